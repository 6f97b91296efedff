/** Failures of MySQL and MariaDB in words: no connection, a failed query, values other than the query asks for. */
import { codeOf } from '../files/access.ts';
import { fieldBytesMax } from '../limits.ts';
import type { Address } from './address.ts';
import { type Words, networkWords } from './failure.ts';
import { fieldTooLong, longFieldHint } from './long-rows.ts';

/** How the driver says that a server has no TLS. */
export const withoutTls = 'HANDSHAKE_NO_SSL_SUPPORT';

/** The warnings of a statement. */
export interface Warned {
  /** No more than the server keeps. */
  readonly shown: readonly { readonly Level: string; readonly Code: number; readonly Message: string }[];
  /** All that there were. */
  readonly count: number;
}

/** ER_CUT_VALUE_GROUP_CONCAT and ER_WARN_ALLOWED_PACKET_OVERFLOWED: a text that is too long is cut, or becomes NULL. */
const cutCodes: ReadonlySet<number> = new Set([1260, 1301]);

/** Why rows are not what the query asks for, `undefined` where they are. */
export function warningWords({ shown, count }: Warned): Words | undefined {
  const cut = shown.find(({ Code }) => cutCodes.has(Code));
  if (cut !== undefined) return cutWords(cut.Message);
  const broken = shown.find(({ Code }) => Code === rowsCutCode);
  if (broken !== undefined) return { why: broken.Message, hint: 'leave LIMIT ROWS EXAMINED out of the query' };
  const garbled = shown.find(({ Code }) => garbledCodes.has(Code));
  if (garbled !== undefined) return garbledWords(garbled.Message);
  const inexact = shown.find(isInexact);
  if (inexact !== undefined) return inexactWords(inexact.Message);
  if (count <= shown.length) return undefined;
  const first = shown[0] === undefined ? '' : `; the first: ${shown[0].Message}`;
  return {
    why: `the server shows only ${shown.length} of ${count} warnings, so that a cast may have made another value unseen${first}`,
    hint: 'correct what the query warns of',
  };
}

function cutWords(message: string): Words {
  const limit = Number(/max_allowed_packet \((\d+)\)/.exec(message)?.[1] ?? 0);
  if (limit >= fieldBytesMax) return { why: `${fieldTooLong}: ${message}`, hint: longFieldHint };
  return { why: message, hint: 'raise that limit of the server, or shorten the text in the query' };
}

/** ER_QUERY_EXCEEDED_ROWS_EXAMINED_LIMIT: rows are missing. */
const rowsCutCode = 1931;

/** ER_INVALID_CHARACTER_STRING, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD and ER_CANNOT_CONVERT_CHARACTER: a question mark stands for what is no text. */
const garbledCodes: ReadonlySet<number> = new Set([1300, 1366, 1977]);

function garbledWords(message: string): Words {
  return {
    why: `a cast of the query makes another text: ${message}`,
    hint: 'say which character set its bytes are in, as in CONVERT(CAST(… AS CHAR CHARACTER SET latin1) USING utf8mb4), or use HEX(…)',
  };
}

/**
 * ER_TRUNCATED_WRONG_VALUE, ER_WARN_DATA_OUT_OF_RANGE, ER_WRONG_VALUE_FOR_TYPE, ER_DATETIME_FUNCTION_OVERFLOW and ER_DATA_OVERFLOW: a cast that
 * went on with another number, or with NULL for a date.
 */
const inexactCodes: ReadonlySet<number> = new Set([1264, 1292, 1411, 1441, 1916]);

/** An integer that changed its sign. MariaDB only notes that, and a number that is too large. */
const wrapped = /^Cast to (?:un)?signed converted/;

function isInexact({ Level, Code, Message }: Warned['shown'][number]): boolean {
  if (wrapped.test(Message)) return true;
  // A note of another kind tells of digits of a second that are left out.
  return inexactCodes.has(Code) && (Level !== 'Note' || Code === 1916);
}

function inexactWords(message: string): Words {
  // A date that is no date becomes NULL, as an empty one would.
  const ofEmpty = /DECIMAL|INTEGER|DOUBLE/.test(message) && message.includes("''");
  return {
    why: `a cast or comparison of the query makes another value: ${message}`,
    hint: `correct that text,${ofEmpty ? " write NULLIF(…, '') around it in the query," : ''} or leave the cast out (and pushdown), so that the agent reads the text itself`,
  };
}

export function openingWords(error: unknown, address: Address): Words {
  const message = error instanceof Error ? error.message : '';
  const code = codeOf(error) ?? '';
  if (code === withoutTls)
    return { why: 'the server has no TLS', hint: 'turn TLS on there, or say sslmode=disable in the url' };
  if (code === 'PROTOCOL_CONNECTION_LOST')
    return { why: 'the server closed the connection', hint: 'does MySQL or MariaDB listen there?' };
  if (code.startsWith('ER_')) return { why: message, hint: openingHints[code] };
  return networkWords(error, address);
}

const openingHints: Readonly<Record<string, string>> = {
  ER_ACCESS_DENIED_ERROR: 'is the password in the url right, may this user come from here, and must it use TLS?',
  ER_DBACCESS_DENIED_ERROR: 'grant it: GRANT SELECT ON … TO …',
  ER_BAD_DB_ERROR: 'is the name of the database in the url right?',
  ER_CON_COUNT_ERROR: 'raise max_connections there, or close some',
  ER_TOO_MANY_USER_CONNECTIONS: 'raise max_user_connections there, or close some',
  ER_USER_LIMIT_REACHED: 'raise the limit of this user there, or close some connections',
  ER_SECURE_TRANSPORT_REQUIRED: 'the server wants TLS: sslmode=require in the url',
  ER_HOST_NOT_PRIVILEGED: 'the server lets nobody in from here',
  ER_HOST_IS_BLOCKED: 'FLUSH HOSTS there lets this machine in again',
};

export function queryWords(error: unknown, address: Address): Words {
  const message = error instanceof Error ? error.message : '';
  const code = codeOf(error) ?? '';
  if (code === 'PROTOCOL_CONNECTION_LOST' || message === 'the connection was cut') {
    return { why: 'the connection was cut while the query ran', hint: 'it is read again at the next look' };
  }
  if (!code.startsWith('ER_')) return networkWords(error, address);
  const isLock = code === 'ER_LOCK_WAIT_TIMEOUT' || code === 'ER_LOCK_TIMEOUT';
  return {
    why: `${isLock ? 'a table of the query is locked: ' : ''}${message}`,
    hint: queryHints[code] ?? 'correct the query',
  };
}

const again = 'it is read again at the next look';
const queryHints: Readonly<Record<string, string>> = {
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 'write one SELECT statement, without FOR UPDATE',
  ER_PARSE_ERROR: 'write one SELECT statement, and correct its syntax',
  ER_UNSUPPORTED_PS: 'write one SELECT statement',
  ER_TABLEACCESS_DENIED_ERROR: 'grant it: GRANT SELECT ON … TO …',
  ER_COLUMNACCESS_DENIED_ERROR: 'grant it: GRANT SELECT ON … TO …',
  ER_DBACCESS_DENIED_ERROR: 'grant it: GRANT SELECT ON … TO …',
  ER_NO_SUCH_TABLE: 'is its name right? a table of another database is written database.table',
  ER_NO_DB_ERROR: 'name the database in the url',
  ER_LOCK_WAIT_TIMEOUT: 'which session holds it is in SHOW PROCESSLIST; it is tried again at the next look',
  ER_TABLE_DEF_CHANGED: again,
  ER_CHECKREAD: again,
  ER_QUERY_INTERRUPTED: again,
  ER_CONNECTION_KILLED: again,
  ER_SERVER_SHUTDOWN: again,
  ER_STATEMENT_TIMEOUT: 'the server ended it: is there a max_statement_time, or an index missing?',
  ER_QUERY_TIMEOUT: 'the server ended it: is there a max_execution_time, or an index missing?',
};
