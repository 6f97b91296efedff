/** What went wrong between the agent and a server, in words for a person that hold no secret. */
import { AgentError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { oneLine } from '../../http/masking.ts';
import { codeOf } from '../files/access.ts';

const shownMax = 200;

/** Who was asked, for messages. */
export interface Peer {
  /** Scheme, host and port: the path of an address may be as secret as a password. */
  readonly origin: string;
  readonly secrets: readonly string[];
}

/** No answer, or the connection of one broke. `what` says what did not come to its end, if anything had begun. */
export function connectionError(
  code: ErrorCode,
  peer: Peer,
  error: unknown,
  { what, silenceMs }: { what?: string; silenceMs: number },
): AgentError {
  const reason = reasonOf(peer, error, silenceMs);
  const message = what === undefined ? reason.text : `${what}: ${reason.text}`;
  return new AgentError(code, message, { cause: error, hint: reason.hint });
}

interface Reason {
  readonly text: string;
  readonly hint?: string;
}

function reasonOf({ origin, secrets }: Peer, error: unknown, silenceMs: number): Reason {
  const code = codeOf(error) ?? '';
  const said = oneLine(error instanceof Error ? error.message : String(error), secrets, shownMax);
  const known = reasons[code];
  if (known !== undefined) return known(origin, silenceMs / 1000);
  if (said.includes('(407)')) {
    const hint = 'put user and password of the proxy into its address in the environment';
    return { text: `the proxy on the way to ${origin} wants a password`, hint };
  }
  if (untrusted.test(code)) {
    const hint = 'name the authority of its certificate with caFile';
    return { text: `no safe connection to ${origin}: ${said} (${code})`, hint };
  }
  return { text: `no connection to ${origin}: ${said}${code === '' ? '' : ` (${code})`}` };
}

/** OpenSSL's codes for a certificate that no known authority vouches for. */
const untrusted = /^(SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED)/;

const dropped = (origin: string): Reason => ({ text: `the connection to ${origin} was dropped` });
const noRoute = (origin: string): Reason => ({ text: `there is no way to ${origin}`, hint: 'is the network up?' });
const hangs = (origin: string): Reason => ({
  text: `no connection to ${origin}: nobody answers there`,
  hint: 'check url, and the firewalls on the way',
});

const reasons: Readonly<Record<string, (origin: string, silenceSeconds: number) => Reason>> = {
  ENOTFOUND: (origin) => ({ text: `${origin} has no address`, hint: 'check the host of url' }),
  EAI_AGAIN: (origin) => ({ text: `the name server did not say where ${origin} is`, hint: 'is the network up?' }),
  ECONNREFUSED: (origin) => ({ text: `${origin} refused the connection: nothing listens there`, hint: 'check url' }),
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ETIMEDOUT: hangs,
  UND_ERR_CONNECT_TIMEOUT: hangs,
  UND_ERR_BODY_TIMEOUT: (_origin, seconds) => ({ text: `no byte came for ${seconds} s` }),
  UND_ERR_SOCKET: dropped,
  ECONNRESET: dropped,
  EPIPE: dropped,
  CERT_HAS_EXPIRED: (origin) => ({ text: `no safe connection to ${origin}: its certificate has expired` }),
  ERR_TLS_CERT_ALTNAME_INVALID: (origin) => ({
    text: `no safe connection to ${origin}: its certificate is for another host`,
    hint: 'check the host of url',
  }),
  ERR_SSL_WRONG_VERSION_NUMBER: (origin) => ({
    text: `no safe connection to ${origin}: it does not speak TLS`,
    hint: 'check url: http, or another port',
  }),
};

/** What an answer that gives nothing to read means. `said` is the start of its body, where that is text. */
export function statusError(
  peer: Peer,
  { status, reason, said }: { status: number; reason: string; said: string },
): AgentError {
  const line = [`${peer.origin} answered ${status} ${oneLine(reason, peer.secrets, shownMax)}`.trimEnd()];
  if (said.trim() !== '') line.push(oneLine(said, peer.secrets, shownMax));
  return new AgentError('source.unreadable', line.join(': '), { hint: statusHint(status) });
}

function statusHint(status: number): string {
  if (status === 204 || status === 205) return 'there is no content: is the report still to be made?';
  if (status < 300) return 'only 200 says that this is all of it';
  if (status < 400) return 'set url to where the content is now';
  if (status === 401 || status === 403) return 'check token, tokenFile, headers, or user and password of url';
  if (status === 404) return 'check url: there is nothing at this address';
  if (status === 407) return 'put user and password of the proxy into its address in the environment';
  if (status === 410) return 'what was there is gone for good: check url';
  if (status === 429) return 'it is asked too often: raise poll';
  if (status >= 500) return 'the server failed: it is asked again with the next poll';
  return 'the server does not take this request: check url and headers';
}

/** A web page where data was expected. */
export function pageError({ origin }: Peer): AgentError {
  return new AgentError('source.unreadable', `a web page came from ${origin} instead of the data`, {
    hint: 'it may be a login page: check url, token and headers, and the proxy',
  });
}
