/** What an answer of the service, or the lack of one, means for a push (DESIGN 4, Pushing). */
import { updatePath } from '../../contract/driver-push.ts';
import { AgentError } from '../../core/errors.ts';
import { oneLine } from '../../http/masking.ts';
import type { PushResult } from '../../core/ports.ts';
import { EndlessError, type Progress, SilenceError, answerTimeouts } from './route.ts';

export interface Answer {
  readonly status: number;
  /** The words beside the status, as the service chose them. */
  readonly reason: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** At most the first 64 KB. */
  readonly text: string;
  /** What cut the answer's body short; `undefined` where it came whole. */
  readonly cut: Error | undefined;
}

/** What was sent, for the words that a person reads. */
export interface Request {
  readonly url: URL;
  /** Of the snapshot, before compression. */
  readonly bytes: number;
  /** Whether all of the request had been handed over when the answer came. */
  readonly isWhole: boolean;
  /** What must never be shown, should an answer echo it. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly now: Date;
}

const shownMax = 300;
const retryAfterMaxMs = 366 * 86_400_000;
/** Not a verdict on the data: the same push may well be taken a little later. */
const passingStatuses = new Set([408, 425, 429, 503]);

/** The outcome of a push that was answered. */
export function judgeAnswer(answer: Answer, request: Request): PushResult {
  const { status } = answer;
  const verdict = status === 200 ? judge200(answer, request) : judgeOther(answer, request);
  const retryAfterMs = status === 200 ? undefined : readRetryAfter(answer, request.now);
  const said = shownLine(answer.text, request.secrets);
  const line = `${status} ${shownLine(answer.reason, request.secrets)}`.trimEnd() + (said === '' ? '' : `: ${said}`);
  return {
    outcome: verdict.outcome,
    status,
    ...(verdict.hint !== undefined && { detail: `${line}; ${verdict.hint}` }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    maybeTaken: verdict.maybeTaken,
  };
}

interface Verdict {
  readonly outcome: PushResult['outcome'];
  readonly maybeTaken: boolean;
  readonly hint?: string;
}

function judge200(answer: Answer, request: Request): Verdict {
  if (isPage(answer)) {
    const hint = 'a web page answered instead of the service, such as a login page: check url and the proxy';
    return { outcome: 'refused', maybeTaken: false, hint };
  }
  const unknown = { outcome: 'unknown', maybeTaken: true } as const;
  // Who has not seen all of a snapshot cannot have taken it: half of one deletes the other half.
  if (!request.isWhole) return { ...unknown, hint: 'the answer came before the whole snapshot was sent' };
  if (answer.cut !== undefined) return { ...unknown, hint: describeCut(answer.cut, request.timeoutMs) };
  return { outcome: 'acknowledged', maybeTaken: false };
}

function describeCut(cut: Error, timeoutMs: number): string {
  if (cut instanceof EndlessError) return describeEndless(timeoutMs);
  return cut instanceof SilenceError
    ? `no byte moved for ${timeoutMs / 1000} s within the answer`
    : 'the connection ended within the answer';
}

function describeEndless(timeoutMs: number): string {
  const seconds = (answerTimeouts * timeoutMs) / 1000;
  return `the answer did not end within ${seconds} s (${answerTimeouts} times timeout)`;
}

function judgeOther(answer: Answer, request: Request): Verdict {
  const { status } = answer;
  if (passingStatuses.has(status)) {
    return {
      outcome: 'unreachable',
      maybeTaken: status === 408 || status === 503,
      hint: 'the service is busy: try later',
    };
  }
  if (status >= 500) {
    return {
      outcome: 'unknown',
      maybeTaken: true,
      hint: 'the service failed and may have taken the snapshot all the same',
    };
  }
  if (status < 300)
    return { outcome: 'refused', maybeTaken: true, hint: 'only 200 says that the snapshot was taken: check url' };
  return { outcome: 'refused', maybeTaken: false, hint: refusalHint(answer, request) };
}

function refusalHint({ status, headers }: Answer, { url, bytes, secrets }: Request): string {
  if (status < 400)
    return `redirects are not followed: set url to ${redirectedUrl(String(headers['location'] ?? ''), url, secrets)}`;
  switch (status) {
    case 401:
    case 403:
      return 'check token or tokenFile';
    case 404:
    case 405:
      return `check url: nothing at ${url.origin}${url.pathname} takes snapshots`;
    case 407:
      return 'put user and password of the proxy into its address';
    case 413:
      return `the snapshot has ${bytes} bytes and is never split: raise the limit of the service or of a proxy before it`;
    default:
      return 'the same snapshot will be refused again: correct what the service names';
  }
}

/** The address to write into the config: without what `url` does not have either. */
function redirectedUrl(location: string, url: URL, secrets: readonly string[]): string {
  if (location === '' || !URL.canParse(location, url.href)) return 'the address that the service moved to';
  const target = new URL(location, url);
  const path = target.pathname.endsWith(updatePath) ? target.pathname.slice(0, -updatePath.length) : target.pathname;
  return shownLine(`${target.origin}${path === '/' ? '' : path}`, secrets);
}

/** How far a push came that was not answered. */
export interface Attempt extends Progress {
  readonly url: URL;
  readonly isWhole: boolean;
  readonly sentBytes: number;
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
}

/** The outcome of a push that was not answered. Only what surely came before the connection is `unreachable`. */
export function judgeFailure(error: unknown, attempt: Attempt): PushResult {
  // A forwarding proxy wants a password: undici makes an error of that answer.
  if (error instanceof Error && error.message.includes('(407)')) {
    const hint = 'put user and password of the proxy into its address';
    const outcome = attempt.isReached ? 'refused' : 'unreachable';
    return { outcome, status: 407, maybeTaken: false, detail: `407 Proxy Authentication Required; ${hint}` };
  }
  const what = describeFailure(error, attempt);
  if (!attempt.isReached) return { outcome: 'unreachable', maybeTaken: false, detail: what };
  const waiting = error instanceof EndlessError ? '' : ' while waiting for the answer';
  const where = attempt.isWhole ? waiting : ` after ${attempt.sentBytes} bytes were sent`;
  return {
    outcome: 'unknown',
    maybeTaken: true,
    detail: `${what}${where}; the service may have taken the snapshot all the same`,
  };
}

function describeFailure(error: unknown, attempt: Attempt): string {
  const { isReached, secrets } = attempt;
  const peer = attempt.url.host + (attempt.proxy === undefined ? '' : ` (through the proxy ${attempt.proxy})`);
  const seconds = attempt.timeoutMs / 1000;
  if (error instanceof AgentError) return error.message;
  if (error instanceof SilenceError) {
    return isReached ? `no byte moved for ${seconds} s` : `no connection to ${peer} within ${seconds} s`;
  }
  if (error instanceof EndlessError) {
    return isReached
      ? describeEndless(attempt.timeoutMs)
      : `no connection to ${peer} within ${seconds * answerTimeouts} s`;
  }
  const code = errorCode(error);
  const known = failures[code];
  if (known !== undefined) return `${known(peer, seconds)} (${code})`;
  const message = shownLine(error instanceof Error ? error.message : String(error), secrets);
  if (untrusted.test(code)) {
    return `no safe connection to ${peer}: ${message} (${code}): name the authority of its certificate with caFile`;
  }
  return `${isReached ? 'the connection broke' : `no connection to ${peer}`}: ${message}${code === '' ? '' : ` (${code})`}`;
}

/** OpenSSL's codes for a certificate that no known authority vouches for. */
const untrusted = /^(SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED)/;

const failures: Readonly<Record<string, (peer: string, seconds: number) => string>> = {
  ENOTFOUND: (peer) => `${peer} has no address: check url`,
  EAI_AGAIN: (peer) => `the name server did not say where ${peer} is`,
  ECONNREFUSED: (peer) => `${peer} refused the connection: nothing listens there`,
  EHOSTUNREACH: (peer) => `no route to ${peer}`,
  ENETUNREACH: (peer) => `no network to reach ${peer}`,
  UND_ERR_CONNECT_TIMEOUT: (peer, seconds) => `no connection to ${peer} within ${seconds} s`,
  UND_ERR_SOCKET: () => 'the connection was closed',
  ECONNRESET: () => 'the connection was dropped',
  EPIPE: () => 'the connection was dropped',
  CERT_HAS_EXPIRED: (peer) => `no safe connection to ${peer}: its certificate has expired`,
  ERR_TLS_CERT_ALTNAME_INVALID: (peer) =>
    `no safe connection to ${peer}: its certificate is for another host: check url`,
  ERR_SSL_WRONG_VERSION_NUMBER: (peer) => `no safe connection to ${peer}: it does not speak TLS: check url`,
};

/** Whether the connection stood, and what came over it was no TLS or not that of a trusted service. */
export function isTlsFailure(error: unknown): boolean {
  return untrusted.test(errorCode(error)) || /^(CERT_|ERR_TLS_|ERR_SSL_)/.test(errorCode(error));
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isPage({ headers, text }: Answer): boolean {
  const body = text.trimStart();
  if (body === '') return false;
  return (
    /^(text\/html|application\/xhtml\+xml)\b/i.test(String(headers['content-type'] ?? '').trim()) ||
    /^<(!doctype\s+html|html)\b/i.test(body)
  );
}

/** `Retry-After` in seconds, or as a date beside the answer's own `Date`, whatever our clock says. */
function readRetryAfter({ headers }: Answer, now: Date): number | undefined {
  const text = String(headers['retry-after'] ?? '').trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseDate(text) - (parseDate(headers['date']) || now.getTime());
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), retryAfterMaxMs);
}

function parseDate(text: unknown): number {
  // Of the three forms that HTTP knows, asctime's has no zone.
  return typeof text === 'string' && /^[a-z]{3,9},? /i.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;
}

/** Also without the tags of a page. */
function shownLine(text: string, secrets: readonly string[]): string {
  return oneLine(/^\s*</.test(text) ? text.replace(/<[^<>]*>/g, ' ') : text, secrets, shownMax);
}
