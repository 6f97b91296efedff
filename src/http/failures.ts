/**
 * Why an address did not answer as it should, in words for a person: the same words for the same failure, whoever asked.
 * They follow the name of the place that was asked (`https://drivers.example.com: the connection was refused`).
 */
import { oneLine } from './masking.ts';

export interface Failure {
  readonly why: string;
  /** What to do about it. */
  readonly hint: string;
}

export interface Limits {
  readonly connectMs: number;
  /** Longest time in which no byte moves. */
  readonly silenceMs: number;
  /** Whether the hint may say that it is tried again. Default: it does. */
  readonly isTriedAgain?: boolean;
}

/** No byte moved for the whole of a limit. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** Bytes moved, and the answer did not end within this time. */
export class EndlessError extends Error {
  override readonly name = 'EndlessError';
  readonly limitMs: number;

  constructor(limitMs: number) {
    super('the answer did not end');
    this.limitMs = limitMs;
  }
}

/** How messages name an address: the rest of it may be as secret as a password. `proxy`: host and port of one on the way. */
export function nameOf({ origin }: URL, proxy?: string): string {
  return proxy === undefined ? origin : `${origin} (through the proxy ${proxy})`;
}

/** The code of Node, OpenSSL or undici; '' where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What kept a connection from standing, or broke it. */
export function networkFailure(error: unknown, secrets: readonly string[], limits: Limits): Failure {
  const { why, hint } = failureOf(error, secrets, limits);
  return { why, hint: hint === again && limits.isTriedAgain === false ? look : hint };
}

function failureOf(error: unknown, secrets: readonly string[], limits: Limits): Failure {
  const code = codeOf(error);
  const shown = code === '' ? '' : ` (${code})`;
  if (error instanceof EndlessError) {
    return { why: `no whole answer within ${error.limitMs / 1000} s (ten times timeout)`, hint: stalls };
  }
  if (error instanceof SilenceError || code === 'UND_ERR_BODY_TIMEOUT') {
    return { why: `no byte moved for ${limits.silenceMs / 1000} s`, hint: stalls };
  }
  if (timeouts.has(code)) {
    const why = `no connection within ${limits.connectMs / 1000} s`;
    return { why, hint: 'check host and port, and the firewalls on the way' };
  }
  const said = oneLine(messageOf(error), secrets);
  const fromProxy = proxyFailure(said);
  if (fromProxy !== undefined) return fromProxy;
  const known = failures[code] ?? tlsFailure(error);
  if (known !== undefined) return { why: `${known.why}${shown}`, hint: known.hint };
  if (code.startsWith('HPE_')) {
    return { why: `what listens there does not speak HTTP${shown}`, hint: 'check host and port' };
  }
  return { why: `the connection failed${said === '' ? '' : `: ${said}`}${shown}`, hint: again };
}

/** Whether a connection stood, and TLS over it did not: no TLS at all, or a certificate that is not trusted. */
export function isTlsFailure(error: unknown): boolean {
  return tlsFailure(error) !== undefined;
}

const look = 'look at the server and at what is on the way to it';
const again = `it is tried again; if that does not help, ${look}`;
const stalls = 'the server, or something on the way to it, stalls: look there';
const dropped: Failure = { why: 'the connection was cut', hint: again };
const noRoute: Failure = { why: 'no route leads there', hint: 'check the network of this machine, and the address' };

const timeouts = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

const failures: Readonly<Record<string, Failure>> = {
  ENOTFOUND: { why: 'the host is unknown: its name has no address', hint: 'check the name of the host' },
  EAI_AGAIN: {
    why: 'the name of the host could not be looked up',
    hint: 'check the network and the name servers of this machine',
  },
  ECONNREFUSED: {
    why: 'the connection was refused: nothing listens there',
    hint: 'check host and port, and whether the server is running',
  },
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  UND_ERR_SOCKET: dropped,
  ECONNRESET: dropped,
  EPIPE: dropped,
};

/** Status 407, which undici turns into an error. */
export const proxyPassword: Failure = {
  why: 'the proxy wants user and password',
  hint: 'put them into its address in HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT',
};

/** undici and Node make errors of a proxy's answer, and tell the status in their messages. */
function proxyFailure(message: string): Failure | undefined {
  const [, status] = /(?:Proxy response \(|Failed to establish tunnel .*HTTP\/1\.\d )(\d{3})/.exec(message) ?? [];
  if (status === '407' || message.includes('(407)')) return proxyPassword;
  if (status === undefined) return undefined;
  return {
    why: `the proxy answered ${status} and opened no tunnel`,
    hint: 'check what the proxy allows, or name the host in NO_PROXY',
  };
}

const certificateWords: readonly (readonly [RegExp, string])[] = [
  [/certificate has expired/, 'CERT_HAS_EXPIRED'],
  [/certificate is not yet valid/, 'CERT_NOT_YET_VALID'],
  [/certificate's altnames/, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [/self-signed certificate/, 'SELF_SIGNED_CERT_IN_CHAIN'],
  [/unable to (?:get|verify) .*certificate/, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
];

/** Knows a failure of TLS by the codes of OpenSSL and Node, or by its words where a database's client put its own code over them. */
function tlsFailure(error: unknown): Failure | undefined {
  const message = messageOf(error);
  const code = certificateWords.find(([words]) => words.test(message))?.[1] ?? codeOf(error);
  const unsafe = (why: string, hint: string): Failure => ({ why: `no safe connection: ${why}`, hint });
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return unsafe('the certificate has expired', 'renew it on the server, or correct the clock of this machine');
    case 'CERT_NOT_YET_VALID':
      return unsafe('the certificate is not valid yet', 'check the clocks of the server and of this machine');
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const { cert } = error as { readonly cert?: { readonly subjectaltname?: string } };
      const names = cert?.subjectaltname === undefined ? '' : ` (${oneLine(cert.subjectaltname, [])})`;
      return unsafe(`the certificate is for another host${names}`, 'write the host as the certificate does');
    }
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return unsafe('what listens there does not speak TLS', 'check host and port');
    default:
  }
  if (/^(SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED)/.test(code)) {
    const hint = 'name the authority of the certificate with caFile';
    return unsafe('no authority that is known here vouches for the certificate', hint);
  }
  if (!/^(CERT_|ERR_TLS_|ERR_SSL_)/.test(code)) return undefined;
  return unsafe(oneLine(message, []), 'check the certificate of the server, and the TLS that it offers');
}

/** A host with several addresses fails with one error for each. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map(messageOf).join(', ');
}

/** A web page where data, or the answer of a service, was expected. */
export const pageFailure: Failure = {
  why: 'a web page answered, such as a login page',
  hint: 'check url, the credentials and the proxy',
};

/** A status and what was said with it: `401 Unauthorized: token expired`. */
export function statusLine(
  { status, reason, said }: { readonly status: number; readonly reason: string; readonly said: string },
  secrets: readonly string[],
): string {
  const line = `${status} ${oneLine(reason, secrets)}`.trimEnd();
  const words = oneLine(said, secrets);
  return words === '' ? line : `${line}: ${words}`;
}

/** Not a verdict on what was asked: the same request may well succeed a little later. */
export function isBusy(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status === 503;
}

/** What to do about a status that means the same to everyone who asks; `undefined` for any other. */
export function statusHint(status: number): string | undefined {
  if (status === 401 || status === 403) return 'check the credentials: token, tokenFile and headers';
  if (status === 404 || status === 405 || status === 410) return 'check url: nothing is at this address';
  if (status === 407) return proxyPassword.hint;
  if (isBusy(status)) return 'the server is busy: it is tried again later';
  return status >= 500 ? 'the server failed: it is tried again' : undefined;
}
