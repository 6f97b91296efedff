/** Requests that only read, to one server and to where it redirects: with limits, and without a secret for anybody else. */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { AgentError, type ErrorCode } from '../../core/errors.ts';
import { readStart } from '../../http/answer.ts';
import { openDispatcher, proxySecrets } from '../../http/connection.ts';
import { readAuthorities, readToken } from '../../http/credentials.ts';
import {
  type Failure,
  type Limits,
  nameOf,
  networkFailure,
  pageFailure,
  statusHint,
  statusLine,
} from '../../http/failures.ts';
import { isClean, oneLine, secretsIn } from '../../http/masking.ts';
import type { WebPlace } from './keys.ts';

const code = 'source.unreadable';
const redirectsUsual = 5;
const refusalHint =
  'the rows beside an error may be a part of them, so none counts, and it is tried again; where it stays, ask who runs the server';
/** So much is read of the words of a failure. */
const saidMax = 4 * 1024;

export interface WebOptions extends Limits {
  /** For `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, upper or lower case. */
  readonly env: NodeJS.ProcessEnv;
}

/** An answer that had begun when its connection broke. */
export interface Begun {
  readonly code: ErrorCode;
  /** Such as `the answer did not come whole`. */
  readonly what: string;
}

export interface Question {
  /** Sent as well; where the place has the same header, that of the place is sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those that are an answer; any other is a failure. */
  readonly statuses: readonly number[];
  /** Default: GET. */
  readonly method?: 'GET' | 'PROPFIND' | 'POST';
  readonly body?: string;
  /** Default: 5. */
  readonly redirectsMax?: number;
}

export interface WebAnswer {
  readonly status: number;
  /** Where it came from, after all redirects. */
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  /** Its failures go to whoever reads it; `destroy` ends the connection. */
  readonly body: Readable;
}

/** Fields that may stand in several lines, which mean the same as one line with commas (RFC 9110, 5.3). */
const listFields = new Set(['link', 'content-encoding']);

function headerOf(given: Readonly<Record<string, string | string[] | undefined>>, name: string): string | undefined {
  const value = given[name];
  return Array.isArray(value) ? (listFields.has(name) ? value.join(', ') : value[0]) : value;
}

/** Connections to one place, for one look at it: `destroy` when done. */
export class Web {
  readonly #place: WebPlace;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #authorities: readonly string[] | undefined;
  readonly #options: WebOptions;
  readonly #secrets: string[];
  readonly #dispatchers = new Map<string, Dispatcher>();

  private constructor(
    place: WebPlace,
    options: WebOptions,
    { token, authorities }: { token: string | undefined; authorities: readonly string[] | undefined },
  ) {
    this.#place = place;
    this.#options = options;
    this.#headers = { ...place.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    this.#authorities = authorities;
    this.#secrets = [...place.secrets, token ?? '', ...proxySecrets({ url: place.url, env: options.env, code })];
  }

  /**
   * Connects to nothing yet.
   * @throws AgentError `source.unreadable` for a token, CA file or proxy that cannot be used
   */
  static async open(place: WebPlace, signal: AbortSignal, options: Partial<WebOptions> = {}): Promise<Web> {
    const reading = { code, signal } as const;
    const token = await readToken(place.token, reading);
    const authorities = await readAuthorities(place.caFile, reading);
    const all = { connectMs: 30_000, silenceMs: 60_000, env: process.env, ...options };
    return new Web(place, all, { token, authorities });
  }

  /** An answer of `url` that cannot be used. */
  failure(url: URL, { why, hint }: Failure): AgentError {
    return new AgentError(code, `${nameOf(url)}: ${why}`, { hint });
  }

  /** An answer that says an error, whatever its status says. @param said its words */
  refusal({ url, status }: WebAnswer, said: string, hint = refusalHint): AgentError {
    const words = oneLine(said, this.#secrets);
    return this.failure(url, { why: `it answered ${status} with an error: ${words}`, hint });
  }

  /** A web page where data was expected. */
  pageFailure(url: URL): AgentError {
    return this.failure(url, pageFailure);
  }

  /** A connection that did not stand, or broke. `begun` says what did not come to its end. */
  networkFailure(url: URL, error: unknown, begun?: Begun): AgentError {
    const { why, hint } = networkFailure(error, this.#secrets, this.#options);
    const what = begun === undefined ? why : `${begun.what}: ${why}`;
    const cause = isClean(error, this.#secrets) ? error : undefined;
    return new AgentError(begun?.code ?? code, `${nameOf(url)}: ${what}`, { hint, cause });
  }

  /**
   * Asks for `url` and follows redirects. Secrets go to the place's own origin only, and no longer once a redirect
   * has left it.
   * @throws AgentError `source.unreadable` for no answer, or one whose status is not among `statuses`
   */
  async get(url: URL, question: Question, signal: AbortSignal): Promise<WebAnswer> {
    const { headers, statuses, redirectsMax = redirectsUsual } = question;
    let isHome = url.origin === this.#place.url.origin;
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const {
        statusCode,
        statusText,
        headers: given,
        body,
      } = await this.#ask(
        at,
        { ...question, headers: { 'user-agent': 'driver-sync', ...headers, ...(isHome && this.#headers) } },
        signal,
      );
      // A failing body that nobody reads would end the process. Whoever reads it learns of its failures.
      body.on('error', () => {});
      const header = (name: string): string | undefined => headerOf(given, name);
      if (statuses.includes(statusCode)) {
        return { status: statusCode, url: at, header, body };
      }
      const isRedirect = redirectsMax > 0 && [301, 302, 303, 307, 308].includes(statusCode);
      const target = isRedirect ? header('location') : undefined;
      if (target === undefined) {
        // Where the words of a failure do not come through, its status stands alone.
        const said = isWords(header('content-type'))
          ? (await readStart(body as AsyncIterable<Buffer>, saidMax)).text
          : '';
        body.destroy();
        signal.throwIfAborted();
        const line = statusLine({ status: statusCode, reason: statusText, said }, this.#secrets);
        const hint = this.#place.hintOf?.(statusCode, said) ?? hintOf(statusCode);
        throw this.failure(at, { why: `it answered ${line}`, hint });
      }
      body.destroy();
      const next = this.#redirect(at, target, { redirects, redirectsMax });
      isHome &&= next.origin === at.origin;
      at = next;
    }
  }

  /** Ends every connection. */
  destroy(): void {
    for (const dispatcher of this.#dispatchers.values()) void dispatcher.destroy();
    this.#dispatchers.clear();
  }

  async #ask(
    url: URL,
    { headers, method = 'GET', body }: Omit<Question, 'statuses'>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const dispatcher = await this.#dispatcherFor(url);
    try {
      const path = `${url.pathname}${url.search}`;
      const request = { origin: url.origin, path, headers, signal, ...(body !== undefined && { body }) };
      return await dispatcher.request({ ...request, method });
    } catch (error) {
      signal.throwIfAborted();
      throw this.networkFailure(url, error);
    }
  }

  #redirect(
    from: URL,
    location: string,
    { redirects, redirectsMax }: { readonly redirects: number; readonly redirectsMax: number },
  ): URL {
    const fail = (why: string, hint: string): AgentError => this.failure(from, { why, hint });
    if (redirects === redirectsMax) {
      const hint = 'check url: it may lead to a login, or in a circle';
      throw fail(`it redirects for the ${redirectsMax + 1}th time`, hint);
    }
    const next = URL.parse(location, from.href);
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw fail('it redirects to something that is not a web address', 'set url to where the content is now');
    }
    if (from.protocol === 'https:' && next.protocol === 'http:') {
      throw fail(`it redirects to ${next.origin}, which is not encrypted`, 'check url: is there an https one?');
    }
    // A server may sign the address that it sends the agent to.
    this.#secrets.push(...secretsIn(next));
    next.username = '';
    next.password = '';
    return next;
  }

  async #dispatcherFor(url: URL): Promise<Dispatcher> {
    const { protocol } = url;
    const known = this.#dispatchers.get(protocol);
    if (known !== undefined) return known;
    const { env, connectMs, silenceMs } = this.#options;
    const way = { url, env, authorities: this.#authorities, connectMs, code } as const;
    // A report may take minutes to compute: until its body begins, only the timeout of the source counts.
    const dispatcher = await openDispatcher(way, { bodyTimeout: silenceMs });
    this.#dispatchers.set(protocol, dispatcher);
    return dispatcher;
  }
}

function isWords(contentType = ''): boolean {
  return /^(application\/([\w.+-]*\+)?(json|xml)|text\/(plain|xml))\b/i.test(contentType.trim());
}

function hintOf(status: number): string {
  if (status === 204 || status === 205) return 'there is no content: is the report still to be made?';
  if (status < 300) return 'only 200 says that this is all of it';
  if (status < 400) return 'set url to where the content is now';
  if (status === 429) return 'it is asked too often: raise poll';
  return statusHint(status) ?? 'the server does not take this request: check url and headers';
}
