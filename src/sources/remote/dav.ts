/** Files of WebDAV shares: Nextcloud, SharePoint, a web server's folder. */
import { resolve } from 'node:path';
import type { Clock } from '../../core/ports.ts';
import type { AgentError } from '../../core/errors.ts';
import { readSecret } from '../../http/credentials.ts';
import { oneLine } from '../../http/masking.ts';
import { freshVersion } from '../kind.ts';
import { XmlFault } from '../formats/xml.ts';
import { bodyOf } from '../web/spool.ts';
import type { WebPlace } from '../web/keys.ts';
import { Web, type WebAnswer } from '../web/web.ts';
import type { RemotePattern } from './address.ts';
import type { DavSettings } from './keys.ts';
import {
  type FolderEntry,
  type RemoteFile,
  type RemoteStore,
  changedFile,
  goneFile,
  isSameLook,
  walkFolders,
} from './store.ts';
import { readElements } from './xml-list.ts';

const properties = ['resourcetype', 'getcontentlength', 'getlastmodified', 'getetag'];
const wanted = `<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:"><d:prop>${properties
  .map((name) => `<d:${name}/>`)
  .join('')}</d:prop></d:propfind>`;

/** Dates have seconds: one that is younger may stay the same although the content changes. */
const youngMs = 2000;

/** @throws AgentError `source.unreadable` for credentials that cannot be read */
export async function openDav(
  pattern: RemotePattern,
  settings: DavSettings,
  { baseDir, clock }: { readonly baseDir: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<RemoteStore> {
  const { token, tokenFile, caFile, passwordFile } = settings;
  const absolute = (file: string | undefined): string | undefined => file && resolve(baseDir, file);
  const secret = {
    text: settings.password ?? pattern.password,
    file: absolute(passwordFile),
    what: 'the file of passwordFile',
  };
  const password = await readSecret(secret, { code: 'source.unreadable', signal });
  const user = settings.user ?? pattern.user;
  const basic = Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64');
  const hasUser = user !== undefined && token === undefined && tokenFile === undefined;
  const url = new URL(pattern.root);
  const file = absolute(tokenFile);
  const place: WebPlace = {
    url,
    headers: hasUser ? { authorization: `Basic ${basic}` } : {},
    token:
      file !== undefined ? { kind: 'file', file } : token === undefined ? undefined : { kind: 'text', text: token },
    caFile: absolute(caFile),
    secrets: [password ?? '', basic, token ?? ''],
    hintOf,
  };
  return new Share(await Web.open(place, signal), url, clock);
}

function hintOf(status: number): string | undefined {
  if (status === 401 || status === 403) return 'check user, password or token of dav, and what that user may see';
  const isNoShare = status === 200 || status === 405 || status === 501;
  return isNoShare ? 'is this the address of a WebDAV share, and no login page?' : undefined;
}

class Share implements RemoteStore {
  readonly #web: Web;
  readonly #root: URL;
  readonly #clock: Clock;

  constructor(web: Web, root: URL, clock: Clock) {
    this.#web = web;
    this.#root = root;
    this.#clock = clock;
  }

  async find(pattern: RemotePattern, signal: AbortSignal): Promise<readonly RemoteFile[]> {
    return await walkFolders(pattern, (directory, inner) => this.#list(directory, inner), signal);
  }

  async look(file: RemoteFile, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const entries = await this.#ask({ at: file.path, depth: '0', isFolder: false }, signal);
    const entry = entries?.find(({ path: at }) => at === file.path);
    if (entry?.problem !== undefined) throw entry.problem;
    return entry?.file;
  }

  async *read(file: RemoteFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const etag = tagOf(file.version);
    // A weak tag says nothing of bytes, and servers answer 412 to it.
    const isStrong = etag !== undefined && !etag.startsWith('W/');
    const headers = { 'accept-encoding': 'identity', ...(isStrong && { 'if-match': etag }) };
    const answer = await this.#web.get(
      this.#urlOf(file.path, false),
      { headers, statuses: [200, 404, 410, 412] },
      signal,
    );
    if (answer.status !== 200) answer.body.destroy();
    if (answer.status === 404 || answer.status === 410) throw goneFile(file);
    const given = answer.header('etag');
    if (answer.status === 412 || (etag !== undefined && given !== undefined && strong(given) !== strong(etag))) {
      throw changedFile(file);
    }
    yield* bodyOf(this.#web, answer, signal, 'part.unreadable');
    // Where the answer does not say that it is of this tag, only a second look does.
    if (isStrong && given !== undefined && !given.startsWith('W/')) return;
    const now = await this.look(file, signal);
    if (now === undefined || !isSameLook(now, file)) throw changedFile(file);
  }

  close(): void {
    this.#web.destroy();
  }

  async #list(directory: string, signal: AbortSignal): Promise<readonly FolderEntry[] | undefined> {
    const entries = await this.#ask({ at: directory, depth: '1', isFolder: true }, signal);
    return entries?.flatMap(({ path: at, file, problem }) => {
      // Of the folder itself it means that there is more in it.
      if (at === directory && problem !== undefined) throw problem;
      if (at === directory) return [];
      const below = directory === '' ? at : at.slice(directory.length + 1);
      return { name: below, file, problem };
    });
  }

  /** What the server lists there, itself among it; `undefined` where nothing is. */
  async #ask(
    { at, depth, isFolder }: { readonly at: string; readonly depth: '0' | '1'; readonly isFolder: boolean },
    signal: AbortSignal,
  ): Promise<readonly Entry[] | undefined> {
    const url = this.#urlOf(at, isFolder);
    const headers = { depth, 'content-type': 'application/xml; charset=utf-8', accept: 'application/xml, text/xml' };
    const question = { headers, statuses: [207, 404, 410], method: 'PROPFIND', body: wanted } as const;
    const answer = await this.#web.get(url, question, signal);
    if (answer.status !== 207) {
      answer.body.destroy();
      return undefined;
    }
    const answeredMs = Date.parse(answer.header('date') ?? '');
    const responses = await this.#read(answer, signal);
    if (responses.length === 0) throw this.#notWhole(url, 'it does not even name the folder');
    const nowMs = Number.isNaN(answeredMs) ? this.#clock.now().getTime() : answeredMs;
    return responses.map((response): Entry => {
      const path = this.#pathOf(response.href, at, url);
      const { failure } = response;
      if (failure === undefined) {
        return { path, file: response.isFolder ? undefined : this.#fileOf(path, response, nowMs), problem: undefined };
      }
      // Also one that is not there: some servers say so of what may not be seen. What went while the list was made is not in the next one.
      const name = `${this.#root.href}${path}`;
      return { path, file: undefined, problem: this.#notWhole(url, `${name} has the status ${failure}`) };
    });
  }

  async #read(answer: WebAnswer, signal: AbortSignal): Promise<readonly Response[]> {
    const responses: Response[] = [];
    let response: Response = { href: '', isFolder: false };
    let given: Omit<Response, 'href'> = { isFolder: false };
    let hrefs: string[] = [];
    try {
      await readElements(bodyOf(this.#web, answer, signal, 'source.unreadable'), 'multistatus', (element, text) => {
        const [, , ...below] = element.split('/');
        switch (below.join('/')) {
          case 'href':
            hrefs.push(text.trim());
            return;
          case 'status':
            response.failure = failureIn(text);
            return;
          case 'propstat/prop/resourcetype':
            given.hasType = true;
            return;
          case 'propstat/prop/resourcetype/collection':
            given.isFolder = true;
            return;
          case 'propstat/prop/getcontentlength':
            given.length = text.trim();
            return;
          case 'propstat/prop/getlastmodified':
            given.modified = text.trim();
            return;
          case 'propstat/prop/getetag':
            given.etag = text.trim();
            return;
          case 'propstat/status':
            given.failure = failureIn(text);
            return;
          case 'propstat':
            response = withProperties(response, given);
            given = { isFolder: false };
            return;
          case '':
            if (element === 'multistatus') return;
            // A status may be that of several things.
            for (const href of hrefs.length === 0 ? [''] : hrefs) responses.push({ ...response, href });
            hrefs = [];
            response = { href: '', isFolder: false };
        }
      });
    } catch (error) {
      if (!(error instanceof XmlFault)) throw error;
      throw this.#notWhole(answer.url, error.message);
    }
    return responses;
  }

  #notWhole(url: URL, why: string): AgentError {
    return this.#web.failure(url, {
      why: `its list of the folder is not whole: ${why}`,
      hint: 'it is tried again; is this the address of a WebDAV share, and may the user see all of it?',
    });
  }

  /** The path that an answer is about, below the root. */
  #pathOf(href: string, asked: string, url: URL): string {
    const target = URL.parse(href, url.href);
    const path = decodePath(target?.pathname);
    // A name that is not encoded is cut there, or is another one.
    if (target === null || path === undefined || /[?#]/.test(href)) {
      throw this.#notWhole(url, `an address in it is not well written: ${oneLine(href, [])}`);
    }
    const below = path.replace(/^\/+|\/+$/g, '');
    const isHere = below === asked || below.startsWith(asked === '' ? '' : `${asked}/`);
    const rest = below.slice(asked === '' ? 0 : asked.length + 1);
    if (isHere && !rest.includes('/') && rest !== '..') return below;
    throw this.#web.failure(url, {
      why: 'its list of a folder names something outside of it',
      hint: 'is there a proxy on the way that changes paths? name the server itself',
    });
  }

  #fileOf(at: string, { etag, modified = '', length }: Response, nowMs: number): RemoteFile {
    const modifiedMs = Date.parse(modified);
    const bytes = /^\d+$/.test(length ?? '') ? Number(length) : undefined;
    const isYoung = !(nowMs - modifiedMs >= youngMs);
    const date = isYoung ? freshVersion() : `date ${modified}`;
    // The same weak tag may stand for other bytes, so that the date counts beside it.
    const isWeak = etag?.startsWith('W/') === true && !Number.isNaN(modifiedMs);
    const stamp = etag ? `${isWeak ? `${date} ` : ''}etag ${etag}` : date;
    const version = `${stamp} ${length ?? ''}`;
    const file = { name: `${this.#root.href}${at}`, path: at, bytes, version };
    if (Number.isNaN(modifiedMs)) return { ...file, revisedAtMs: this.#clock.now().getTime(), isUndated: !etag };
    return { ...file, revisedAtMs: modifiedMs, isYoung: isYoung && (isWeak || !etag) };
  }

  #urlOf(at: string, isFolder: boolean): URL {
    const encoded = at.split('/').map(encodeURIComponent).join('/');
    return new URL(`${encoded}${isFolder && at !== '' ? '/' : ''}`, this.#root);
  }
}

/** What the server says of one file or folder. */
interface Response {
  href: string;
  isFolder: boolean;
  length?: string;
  modified?: string;
  etag?: string;
  /** Whether what kind of thing it is was answered, well or not. */
  hasType?: boolean;
  /** Status and words of what is not there, or not shown. */
  failure?: string | undefined;
}

/** One thing of a list. */
interface Entry {
  readonly path: string;
  readonly file: RemoteFile | undefined;
  /** Why the server does not say what it is. */
  readonly problem: AgentError | undefined;
}

/** `HTTP/1.1 403 Forbidden`; `undefined` for a success. */
function failureIn(status: string): string | undefined {
  const said = oneLine(status.replace(/^\s*HTTP\/\S+\s+/i, ''), []);
  return /^2\d\d\b/.test(said) ? undefined : said;
}

/** Properties that a thing does not have come with 404. One whose kind the server refuses to say may be a folder of files. */
function withProperties(response: Response, { failure, ...given }: Omit<Response, 'href'>): Response {
  if (failure === undefined) return { ...response, ...given, isFolder: response.isFolder || given.isFolder };
  if (given.hasType !== true || /^404\b/.test(failure)) return response;
  return { ...response, failure };
}

function tagOf(version: string): string | undefined {
  return /(?:^| )etag (.*) \d*$/s.exec(version)?.[1];
}

function strong(etag: string): string {
  return etag.replace(/^W\//, '').replace(/-gzip"$/, '"');
}

function decodePath(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
