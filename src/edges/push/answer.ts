/** What an answer of the service, or the lack of one, means for a push. */
import { updatePath } from '../../contract/update-path.ts';
import { AgentError } from '../../core/errors.ts';
import type { PushResult } from '../../core/ports.ts';
import { isPageText, isPageType, parseRetryAfter } from '../../http/answer.ts';
import {
  type Limits,
  isBusy,
  nameOf,
  networkFailure,
  pageFailure,
  proxyPassword,
  statusHint,
  statusLine,
} from '../../http/failures.ts';
import { oneLine } from '../../http/masking.ts';
import type { Progress } from './route.ts';

export interface Answer {
  readonly status: number;
  /** The words beside the status, as the service chose them. */
  readonly reason: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Its beginning. */
  readonly text: string;
  /** What cut the answer's body short; `undefined` where it came whole. */
  readonly cut: unknown;
}

/** What was sent, for the words that a person reads. */
export interface SentPush {
  readonly url: URL;
  /** Length of the snapshot before compression. */
  readonly bytes: number;
  /** Handed over to the connection so far, as sent. */
  readonly sentBytes: number;
  /** Whether all of the request was handed over. */
  readonly isWhole: boolean;
  readonly timeoutMs: number;
  /** What must never be shown, should an answer repeat it. */
  readonly secrets: readonly string[];
}

const mayBeTaken = 'the service may have taken the snapshot all the same';

/** The outcome of a push that was answered. */
export function judgeAnswer(answer: Answer, sent: SentPush, now: Date): PushResult {
  const { status, headers } = answer;
  const judgement = status === 200 ? judge200(answer, sent) : judgeOther(answer, sent);
  const { outcome, maybeTaken, hint } = judgement;
  if (hint === undefined) return { outcome, status, maybeTaken };
  const retryAfterMs = status === 200 ? undefined : parseRetryAfter(headers, now);
  const line = statusLine({ ...answer, said: answer.text }, sent.secrets);
  const until = retryAfterMs === undefined ? '' : `; it asks to wait until ${momentAfter(now, retryAfterMs)}`;
  return {
    outcome,
    status,
    detail: `${line}; ${hint}${until}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    maybeTaken,
  };
}

/** In UTC, to the second. */
function momentAfter(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

interface Judgement extends Pick<PushResult, 'outcome' | 'maybeTaken'> {
  /** Its meaning and what to do about it; an acknowledgement needs no words. */
  readonly hint?: string;
}

function judge200({ headers, text, cut }: Answer, { isWhole, timeoutMs, secrets }: SentPush): Judgement {
  const isPage = text.trim() !== '' && isPageType(String(headers['content-type'] ?? ''));
  if (isPage || isPageText(text)) {
    return { outcome: 'refused', maybeTaken: false, hint: `${pageFailure.why}: ${pageFailure.hint}` };
  }
  const unknown = { outcome: 'unknown', maybeTaken: true } as const;
  // A service that has not seen the whole snapshot cannot have taken it: half of one deletes the other half.
  if (!isWhole) return { ...unknown, hint: 'the answer came before the whole snapshot was sent' };
  if (cut === undefined) return { outcome: 'acknowledged', maybeTaken: false };
  const { why } = networkFailure(cut, secrets, limitsOf(timeoutMs));
  return { ...unknown, hint: `${why}; ${mayBeTaken}` };
}

function judgeOther(answer: Answer, sent: SentPush): Judgement {
  const { status } = answer;
  // Not whether it is tried again: that of a command may be by nobody.
  if (isBusy(status)) {
    return { outcome: 'unreachable', maybeTaken: status === 408 || status === 503, hint: 'the server is busy' };
  }
  if (status >= 500) return { outcome: 'unknown', maybeTaken: true, hint: `the server failed; ${mayBeTaken}` };
  if (status < 300) {
    return { outcome: 'refused', maybeTaken: true, hint: 'only 200 says that the snapshot was taken: check url' };
  }
  return { outcome: 'refused', maybeTaken: false, hint: refusalHint(answer, sent) };
}

function refusalHint({ status, headers }: Answer, { url, bytes, secrets }: SentPush): string {
  if (status < 400) {
    return `redirects are not followed: set url to ${redirectedUrl(String(headers['location'] ?? ''), url, secrets)}`;
  }
  if (status === 413) {
    return `the snapshot has ${bytes} bytes and is never split: raise the limit of the service or of a proxy before it`;
  }
  if (status === 404 || status === 405)
    return `check url: nothing takes snapshots there (${updatePath} is appended to url)`;
  return statusHint(status) ?? 'the same snapshot will be refused again: correct what the service names';
}

/** The address to write into the config: without what the agent appends to `url`. */
function redirectedUrl(location: string, url: URL, secrets: readonly string[]): string {
  const target = location === '' ? null : URL.parse(location, url.href);
  if (target === null) return 'the address that the service moved to';
  const path = target.pathname.endsWith(updatePath) ? target.pathname.slice(0, -updatePath.length) : target.pathname;
  return oneLine(`${target.origin}${path === '/' ? '' : path}`, secrets);
}

/** The outcome of a push that was not answered. Only what surely came before the connection is `unreachable`. */
export function judgeFailure(error: unknown, sent: SentPush, { isReached, proxy }: Progress): PushResult {
  const { url, secrets, timeoutMs } = sent;
  const { why, hint } =
    error instanceof AgentError
      ? { why: error.message, hint: error.hint }
      : networkFailure(error, secrets, limitsOf(timeoutMs));
  const said = error instanceof AgentError ? why : `${nameOf(url, proxy)}: ${why}`;
  // undici makes an error of the answer of a proxy that wants a password: nothing went on to the service.
  const isProxy = why === proxyPassword.why;
  if (!isReached || isProxy) {
    const detail = hint === undefined ? said : `${said}; ${hint}`;
    const outcome = isReached ? 'refused' : 'unreachable';
    return { outcome, ...(isProxy && { status: 407 }), maybeTaken: false, detail };
  }
  const where = sent.isWhole ? 'the request was sent whole' : `${sent.sentBytes} bytes were sent`;
  return { outcome: 'unknown', maybeTaken: true, detail: `${said}; ${where}: ${mayBeTaken}` };
}

function limitsOf(timeoutMs: number): Limits {
  return { connectMs: timeoutMs, silenceMs: timeoutMs, isTriedAgain: false };
}
