/** Why a database server was not reached or failed, in words for the person who runs the agent, with no password. */
import { AgentError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { codeOf } from '../files/access.ts';
import type { Address } from './address.ts';

export interface Words {
  readonly why: string;
  readonly hint?: string | undefined;
}

/** `source.unreadable`: the server cannot be reached or lets nobody in. `part.unreadable`: the query failed. */
export function serverError(code: ErrorCode, address: Address, words: Words, cause: unknown): AgentError {
  return new AgentError(code, mask(`${address.label}: `, words.why, address), {
    ...(isClean(cause, address) && { cause }),
    hint: words.hint,
  });
}

/** `label` is the agent's own text and may show a user who is called as the password is. */
function mask(label: string, text: string, { password }: Address): string {
  if (password === '') return label + text;
  const secrets = [password, encodeURIComponent(password)];
  return label + secrets.reduce((masked, secret) => masked.replaceAll(patternOf(secret), '***'), text);
}

/** A short one is masked where it stands alone: within words it would garble the message, and show itself by that. */
function patternOf(secret: string): RegExp {
  const literal = secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const alone = secret.length < 6;
  return new RegExp(alone ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal, 'gu');
}

/** Whether an error of a driver may be kept: none is known to hold the password, and none ever may. */
function isClean(cause: unknown, { password }: Address): boolean {
  if (!(cause instanceof Error)) return false;
  if (password === '') return true;
  const said = `${cause.message}\n${cause.stack}`;
  return ![password, encodeURIComponent(password)].some((secret) => said.includes(secret));
}

/** What the network or TLS says, for all drivers alike. */
export function networkWords(cause: unknown, { host, connectMaxMs }: Address): Words {
  const message = cause instanceof Error ? cause.message : String(cause);
  const known = networkFailures[codeOf(cause) ?? ''];
  if (known !== undefined) return known(host);
  if (/timeout expired|ETIMEDOUT/.test(message)) {
    return {
      why: `no connection within ${connectMaxMs / 1000} s`,
      hint: 'is the address right, and does a firewall let it through?',
    };
  }
  if (/certificate|altnames/i.test(message)) {
    return {
      why: `no safe connection: ${message}`,
      hint: 'name the authority of its certificate with caFile, and the host as the certificate does',
    };
  }
  if (/\b(?:SSL|TLS)\b/i.test(message)) {
    return {
      why: message,
      hint: 'is it a database that listens there, and does it offer TLS? sslmode=disable does without',
    };
  }
  return { why: message === '' ? 'the connection broke' : message };
}

const reachable = 'is the server running, and does it listen there?';
const networkFailures: Readonly<Record<string, (host: string) => Words>> = {
  ENOTFOUND: (host) => ({ why: `there is no host ${host}`, hint: 'is its name right, also from this machine?' }),
  EAI_AGAIN: (host) => ({ why: `the host ${host} could not be looked up`, hint: 'name resolution does not answer' }),
  ECONNREFUSED: () => ({ why: 'the connection was refused', hint: reachable }),
  ENOENT: () => ({ why: 'there is no such socket', hint: reachable }),
  EACCES: () => ({ why: 'no permission to use the socket', hint: 'give the user of the agent permission to use it' }),
  ETIMEDOUT: () => ({
    why: 'the server does not answer',
    hint: 'is the address right, and does a firewall let it through?',
  }),
  EHOSTUNREACH: () => ({ why: 'the host cannot be reached', hint: 'is the network up, and the address right?' }),
  ENETUNREACH: () => ({ why: 'the network cannot be reached', hint: 'is the network up, and the address right?' }),
  ECONNRESET: () => ({ why: 'the connection was cut', hint: 'it is read again at the next look' }),
  EPIPE: () => ({ why: 'the connection was cut', hint: 'it is read again at the next look' }),
};

/** The failure of an `import()` of a driver: `npm install` names what is missing. */
export function missingDriver(name: string, type: string, cause: unknown): unknown {
  if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') return cause;
  return new AgentError('source.unreadable', `install ${name} to use type ${type}`, {
    cause,
    hint: `npm install ${name}`,
  });
}
