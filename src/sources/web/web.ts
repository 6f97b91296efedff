/** How a server is asked: connections with limits, proxies of the environment, redirects, and who may see what is secret. */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { AgentError } from '../../core/errors.ts';
import { proxiesFor } from '../../http/proxy.ts';
import type { Secret } from '../../core/settings.ts';
import { trustedWith } from '../authorities.ts';
import { codeOf } from '../files/access.ts';
import { type WebPlace, isToken } from './keys.ts';
import { type Peer, connectionError, statusError } from './words.ts';

const redirectsMax = 5;
/** How much of an answer that is no use is read, to say why. */
const saidMax = 4 * 1024;

export interface WebLimits {
  readonly connectMs: number;
  /** Longest silence within a body. Before it a server may compute for as long as the source's own timeout lets it. */
  readonly silenceMs: number;
  /** For `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, upper or lower case. */
  readonly env: NodeJS.ProcessEnv;
}

export interface Question {
  /** Beside those of the place, which win. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the asker can do something with. */
  readonly statuses: readonly number[];
}

export interface WebAnswer {
  readonly status: number;
  /** Where it came from in the end. */
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  /** Its failures go to whoever reads it; `destroy` ends the connection. */
  readonly body: Readable;
}

/** Connections to one place, for one look at it: `destroy` when done. */
export class Web {
  readonly #place: WebPlace;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #authorities: readonly string[] | undefined;
  readonly #limits: WebLimits;
  readonly #secrets: readonly string[];
  readonly #dispatchers = new Map<string, Dispatcher>();

  private constructor(
    place: WebPlace,
    limits: WebLimits,
    { token, authorities }: { token: string | undefined; authorities: readonly string[] | undefined },
  ) {
    this.#place = place;
    this.#limits = limits;
    this.#headers = { ...place.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    this.#authorities = authorities;
    this.#secrets = [...place.secrets, token ?? ''];
  }

  /** Connects to nothing yet. @throws AgentError `source.unreadable` for a token or CA file that cannot be used. */
  static async open(place: WebPlace, limits: Partial<WebLimits> = {}): Promise<Web> {
    const [token, authorities] = [await readToken(place.token), await readAuthorities(place.caFile)];
    const all = { connectMs: 30_000, silenceMs: 60_000, env: process.env, ...limits };
    return new Web(place, all, { token, authorities });
  }

  get silenceMs(): number {
    return this.#limits.silenceMs;
  }

  /** For messages about an answer. */
  peerOf(url: URL): Peer {
    return { origin: url.origin, secrets: this.#secrets };
  }

  /**
   * Asks for `url` and follows redirects, up to 5. What is secret goes to the place's own origin and, once a redirect
   * left that, to nobody.
   * @throws AgentError `source.unreadable` for an answer of another status than these, or none
   */
  async get(url: URL, { headers, statuses }: Question, signal: AbortSignal): Promise<WebAnswer> {
    let isHome = url.origin === this.#place.url.origin;
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const {
        statusCode,
        statusText,
        headers: given,
        body,
      } = await this.#ask(at, { 'user-agent': 'driver-sync', ...headers, ...(isHome && this.#headers) }, signal);
      // Whoever reads the body learns of its failures; without this one that nobody reads would end the process.
      body.on('error', () => {});
      const header = (name: string): string | undefined => [given[name] ?? []].flat()[0];
      if (statuses.includes(statusCode)) {
        return { status: statusCode, url: at, header, body };
      }
      const target = [301, 302, 303, 307, 308].includes(statusCode) ? header('location') : undefined;
      if (target === undefined) {
        const said = isWords(header('content-type')) ? await startOf(body) : '';
        body.destroy();
        signal.throwIfAborted();
        throw statusError(this.peerOf(at), { status: statusCode, reason: statusText, said });
      }
      body.destroy();
      const next = this.#redirect(at, target, redirects);
      isHome &&= next.origin === at.origin;
      at = next;
    }
  }

  /** Ends every connection. */
  destroy(): void {
    for (const dispatcher of this.#dispatchers.values()) void dispatcher.destroy();
    this.#dispatchers.clear();
  }

  async #ask(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const dispatcher = await this.#dispatcherFor(url);
    try {
      const path = `${url.pathname}${url.search}`;
      return await dispatcher.request({ origin: url.origin, path, method: 'GET', headers, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw connectionError('source.unreadable', this.peerOf(url), error, { silenceMs: this.silenceMs });
    }
  }

  #redirect(from: URL, location: string, redirects: number): URL {
    const fail = (what: string, hint: string): AgentError =>
      new AgentError('source.unreadable', `${from.origin} ${what}`, { hint });
    if (redirects === redirectsMax) {
      throw fail(`redirects for the ${redirectsMax + 1}th time`, 'check url: it may lead to a login, or in a circle');
    }
    const next = URL.parse(location, from.href);
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw fail('redirects to what is no web address', 'set url to where the content is now');
    }
    if (from.protocol === 'https:' && next.protocol === 'http:') {
      throw fail(`redirects to ${next.origin}, which is not encrypted`, 'check url: is there an https one?');
    }
    next.username = '';
    next.password = '';
    return next;
  }

  async #dispatcherFor(url: URL): Promise<Dispatcher> {
    const { protocol } = url;
    const known = this.#dispatchers.get(protocol);
    if (known !== undefined) return known;
    const undici = await import('undici');
    const tls = {
      allowH2: false,
      timeout: this.#limits.connectMs,
      ...(this.#authorities && { ca: [...this.#authorities] }),
    };
    const options = {
      ...proxiesFor(url, this.#limits.env, 'source.unreadable'),
      connect: tls,
      requestTls: tls,
      proxyTls: tls,
      // A report may take minutes to compute: that is for the source's own timeout.
      headersTimeout: 0,
      bodyTimeout: this.#limits.silenceMs,
    };
    const dispatcher = new undici.EnvHttpProxyAgent(options);
    this.#dispatchers.set(protocol, dispatcher);
    return dispatcher;
  }
}

function isWords(contentType = ''): boolean {
  return /^(application\/([\w.+-]*\+)?json|text\/plain)\b/i.test(contentType.trim());
}

async function startOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= saidMax) break;
    }
  } catch {
    // The status is the news; where its words do not come through, it stands alone.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, saidMax));
}

async function readToken(secret: Secret | undefined): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  const text = secret.kind === 'file' ? await readAccessFile('tokenFile', secret.file) : secret.text;
  const token = text.trim();
  if (isToken(token)) return token;
  const what = token === '' ? 'is empty' : 'has a character that no token has';
  throw new AgentError('source.unreadable', `the token in tokenFile ${what}`, {
    hint: 'the file must hold the token and nothing else',
  });
}

async function readAuthorities(caFile: string | undefined): Promise<readonly string[] | undefined> {
  if (caFile === undefined) return undefined;
  const pem = await readAccessFile('caFile', caFile);
  const authorities = await trustedWith(pem);
  if (authorities !== undefined) return authorities;
  throw new AgentError('source.unreadable', 'the caFile holds no certificate', { hint: 'it must be in PEM' });
}

/** The path is not shown: a token that was put where its file's path belongs would be. */
async function readAccessFile(key: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable';
    throw new AgentError('source.unreadable', `the file of ${key} cannot be read (${code})`, {
      hint:
        code === 'ENOENT' ? 'there is no such file: paths are relative to the config file' : 'who may read that file?',
    });
  }
}
