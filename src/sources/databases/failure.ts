/** Why a database server was not reached or failed, in words for the person who runs the agent, with no password. */
import { AgentError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { isTlsFailure, networkFailure } from '../../http/failures.ts';
import { isClean, mask } from '../../http/masking.ts';
import { codeOf } from '../files/access.ts';

/** How messages name a server, and what they must not show. */
export interface ServerName {
  /** The url without its password and parameters. */
  readonly label: string;
  readonly password: string;
  /** Longest time to connect. */
  readonly connectMaxMs: number;
}

export interface Words {
  readonly why: string;
  readonly hint?: string | undefined;
}

/** `source.unreadable`: the server cannot be reached or lets nobody in. `part.unreadable`: the query failed. */
export function serverError(code: ErrorCode, address: ServerName, words: Words, cause: unknown): AgentError {
  return new AgentError(code, `${address.label}: ${mask(words.why, [address.password])}`, {
    ...(isClean(cause, [address.password]) && { cause }),
    hint: words.hint,
  });
}

/** What the network or TLS says, for all drivers alike. */
export function networkWords(cause: unknown, { connectMaxMs }: ServerName, secrets: readonly string[] = []): Words {
  const known = socketFailures[codeOf(cause) ?? ''];
  if (known !== undefined) return known;
  const message = cause instanceof Error ? cause.message : String(cause);
  const isLate = message.includes('timeout expired');
  const late = isLate ? Object.assign(new Error(message), { code: 'ETIMEDOUT' }) : cause;
  const { why, hint } = networkFailure(late, secrets, { connectMs: connectMaxMs, silenceMs: connectMaxMs });
  // The drivers begin TLS within their own protocol, and tell its failures without a code.
  if (isTlsFailure(late) || !/\b(?:SSL|TLS)\b/i.test(message)) return { why, hint };
  return {
    why: message,
    hint: 'is it a database that listens there, and does it offer TLS? sslmode=disable does without',
  };
}

const running = 'check whether the server is running, and whether it listens there';
const socketFailures: Readonly<Record<string, Words>> = {
  ENOENT: { why: 'there is no such socket', hint: running },
  EACCES: { why: 'no permission to use the socket', hint: 'give the user of the agent permission to use it' },
};

/** The failure of an `import()` of a driver: `npm install` names what is missing. */
export function missingDriver(name: string, type: string, cause: unknown): unknown {
  if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') return cause;
  return new AgentError('source.unreadable', `install ${name} to use type ${type}`, {
    cause,
    hint: `npm install ${name}`,
  });
}
