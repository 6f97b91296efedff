/** Failures of ClickHouse in words. */
import { isPageText } from '../../http/answer.ts';
import { networkFailure, pageFailure, proxyPassword, statusHint, statusLine } from '../../http/failures.ts';
import { oneLine } from '../../http/masking.ts';
import type { ServerName, Words } from './failure.ts';

/** What a server said of a statement that failed. */
interface Exception {
  /** As in `Code: 60`. */
  readonly code: string;
  readonly message: string;
}

/** `undefined` where the text holds none. Servers of every age have other words around the same. */
function parseException(text: string): Exception | undefined {
  const found = /\bCode: (\d+)[.,]\s*(?:e\.displayText\(\) = )?(?:DB::\w*Exception: )?([^]*)$/.exec(text);
  if (found === null) return undefined;
  const [, code = '', said = ''] = found;
  const message = said.replace(/,?\s*e\.what\(\) = [^]*$|\s*\(version [^)]*\)[^]*$|\r?\n[^]*__exception__[^]*$/g, '');
  return { code, message };
}

/** An answer that is no answer, with the status of HTTP that it came with. */
export interface Refusal {
  readonly status: number;
  readonly said: string;
}

/** Where the server lets nobody in. */
export function openingWords(refusal: Refusal, secrets: readonly string[]): Words {
  const exception = parseException(refusal.said);
  if (exception === undefined) return strangerWords(refusal, secrets);
  return { why: wordsOf(exception, secrets), hint: openingHints[exception.code] };
}

const openingHints: Readonly<Record<string, string>> = {
  81: 'is the name of the database in the url right, and may this user see it?',
  192: 'is the user in the url right?',
  193: 'is the password in the url right?',
  194: 'write the password in the url',
  195: 'the server does not let this user in from here: see its networks there',
  291: 'let this user see the database, in its allow_databases',
  497: 'grant it: GRANT SELECT ON … TO …',
  516: 'are user and password in the url right, and may this user come from here?',
  202: 'raise max_concurrent_queries there, or ask less often',
};

function strangerWords({ status, said }: Refusal, secrets: readonly string[]): Words {
  if (isPageText(said)) return pageFailure;
  if (status === 407) return proxyPassword;
  // An offset of the profile leaves nothing of the one row that was asked for.
  if (status === 200 && said === '')
    return { why: 'it answered nothing', hint: 'check host and port of url; does the profile of the user set offset?' };
  if (status === 200) return { why: 'what listens there is no ClickHouse', hint: 'check host and port of url' };
  const line = statusLine({ status, reason: '', said }, secrets);
  return {
    why: `it answered ${line}`,
    hint: statusHint(status) ?? 'does the HTTP interface of ClickHouse listen there?',
  };
}

/** Where a statement failed, before its rows or among them. */
export function queryWords(refusal: Refusal, secrets: readonly string[]): Words {
  const exception = parseException(refusal.said);
  if (exception !== undefined) {
    return { why: wordsOf(exception, secrets), hint: queryHints[exception.code] ?? 'correct the query' };
  }
  // A whole answer was announced, and something else stands in it.
  if (refusal.status !== 200) return strangerWords(refusal, secrets);
  return refusal.said.startsWith(beforeTotals) ? totalsWords : cutWords;
}

/** An empty line, and one more row. */
const beforeTotals = '\n+\t';
const totalsWords: Words = {
  why: 'the query gives totals behind its rows',
  hint: 'leave WITH TOTALS out of the query',
};

const again = 'it is read again at the next look';

/** A connection that ended before its answer did. */
export const cutWords: Words = { why: 'the connection was cut while the query ran', hint: again };

/** An answer without rows, or for a user who may set nothing, that ends with its connection, as none of the server itself does. */
export const endlessWords: Words = {
  why: 'the answer does not say where it ends, so that nobody would see it cut',
  hint: 'a proxy on the way answers as HTTP/1.0 does: let it speak HTTP/1.1 (in nginx: proxy_http_version 1.1), or name the server itself in url',
};

/** What the network says while a query runs. */
export function brokenWords(error: unknown, { connectMaxMs }: ServerName, secrets: readonly string[]): Words {
  const { why, hint } = networkFailure(error, secrets, { connectMs: connectMaxMs, silenceMs: connectMaxMs });
  return why.startsWith('the connection was cut') || why.includes('aborted') ? cutWords : { why, hint };
}

const select = 'write one SELECT statement';
const grant = 'grant it: GRANT SELECT ON … TO …';

const queryHints: Readonly<Record<string, string>> = {
  16: 'is the name of the column right?',
  47: 'is the name of the column right?',
  60: 'is its name right? a table of another database is written database.table',
  62: `${select}, without FORMAT, and correct its syntax`,
  81: 'is the name of the database right?',
  158: 'the server reads no more rows for this user: see max_rows_to_read there',
  159: 'the server ended it: see max_execution_time there',
  160: 'the server ended it: see max_execution_time there',
  164: select,
  201: 'the quota of this user is used up: see it there',
  202: 'raise max_concurrent_queries there, or ask less often',
  209: again,
  210: again,
  236: again,
  241: 'raise max_memory_usage for this user, select less, or leave ORDER BY out',
  279: `a shard did not answer; ${again}`,
  291: grant,
  394: again,
  396: 'the server gives no more rows to this user: see max_result_rows there',
  497: grant,
  735: again,
};

function wordsOf({ message }: Exception, secrets: readonly string[]): string {
  return oneLine(message, secrets);
}
