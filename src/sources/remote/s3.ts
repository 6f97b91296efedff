/** Files in buckets of S3, and of services that speak as it does. */
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { readSecret } from '../../http/credentials.ts';
import { XmlFault } from '../formats/xml.ts';
import { bodyOf } from '../web/spool.ts';
import type { WebPlace } from '../web/keys.ts';
import { Web, type WebAnswer } from '../web/web.ts';
import type { RemotePattern } from './address.ts';
import type { S3Settings } from './keys.ts';
import { type RemoteFile, type RemoteStore, changedFile, goneFile, tooMuch } from './store.ts';
import { readElements } from './xml-list.ts';

/** So many keys are asked for at once: no service gives more. */
const pageKeys = 1000;
const keysMax = 1_000_000;

interface Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

/** @throws AgentError `source.unreadable` where the credentials are not there */
export async function openS3(
  pattern: RemotePattern,
  settings: S3Settings,
  { baseDir, env }: { readonly baseDir: string; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<RemoteStore> {
  const access = await accessOf(settings, { baseDir, env }, signal);
  const base = addressOf(pattern, settings, { env, region: access.region });
  const { caFile } = settings;
  const place: WebPlace = {
    url: base,
    headers: {},
    token: undefined,
    caFile: caFile === undefined ? undefined : path.resolve(baseDir, caFile),
    secrets: [access.secretAccessKey, access.sessionToken ?? ''],
    hintOf,
  };
  return new Bucket(await Web.open(place, signal), base, access);
}

function hintOf(status: number, said: string): string | undefined {
  if (said.includes('RequestTimeTooSkewed')) return 'set the clock of this machine: requests are signed with its time';
  if (/<Code>\s*(?:ExpiredToken|InvalidToken)\b/.test(said)) return 'these keys were for a while: give new ones';
  if (status >= 300 && status < 400) return 'the bucket is elsewhere: check s3.region and s3.endpoint';
  if (status === 401 || status === 403) return 'check the keys of s3, and that they may ListBucket and GetObject';
  if (status === 400 || status === 404) return 'check the bucket, s3.region and s3.endpoint';
  return undefined;
}

async function accessOf(
  { accessKeyId, secretAccessKey, secretAccessKeyFile, sessionToken, region }: S3Settings,
  { baseDir, env }: { readonly baseDir: string; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<Access> {
  const where = region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  if (accessKeyId !== undefined) {
    const file = secretAccessKeyFile === undefined ? undefined : path.resolve(baseDir, secretAccessKeyFile);
    const what = 'the file of secretAccessKeyFile';
    const secret = await readSecret({ text: secretAccessKey, file, what }, { code: 'source.unreadable', signal });
    return { accessKeyId, secretAccessKey: secret ?? '', sessionToken, region: where };
  }
  const [id, secret] = [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY']];
  if (!id || !secret) {
    throw new AgentError('source.unreadable', 'there are no keys for S3', {
      hint: 'write s3: { accessKeyId, secretAccessKey }, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the agent',
    });
  }
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    sessionToken: env['AWS_SESSION_TOKEN'] || undefined,
    region: where,
  };
}

/** Where the bucket is: below the service, or, at Amazon, a host of its own. */
function addressOf(
  { host: bucket }: RemotePattern,
  { endpoint }: S3Settings,
  { env, region }: { readonly env: NodeJS.ProcessEnv; readonly region: string },
): URL {
  const service = endpoint ?? (env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined);
  if (service !== undefined) return new URL(`${service.replace(/\/+$/, '')}/${encodeKey(bucket)}/`);
  const domain = `s3.${region}.amazonaws.com`;
  // The certificate of the service is for names without another dot.
  return new URL(bucket.includes('.') ? `https://${domain}/${bucket}/` : `https://${bucket}.${domain}/`);
}

/** One page of a list. */
interface Page {
  readonly files: readonly RemoteFile[];
  readonly next: string | undefined;
}

class Bucket implements RemoteStore {
  readonly #web: Web;
  readonly #base: URL;
  readonly #access: Access;

  constructor(web: Web, base: URL, access: Access) {
    this.#web = web;
    this.#base = base;
    this.#access = access;
  }

  async find(pattern: RemotePattern, signal: AbortSignal): Promise<readonly RemoteFile[]> {
    const { directory, segments } = pattern;
    const folder = directory === '' ? '' : `${directory}/`;
    const [first = ''] = segments;
    const glob = segments.join('/');
    // What its names begin with; a backslash and a "(" mean something only behind another character.
    const literal = /^[^*?[\]{}!@+()\\]*/.exec(first)?.[0] ?? '';
    const found: RemoteFile[] = [];
    const seen = new Set<string>();
    let count = 0;
    for (let token: string | undefined; ;) {
      const page = await this.#list(
        { pattern, prefix: folder + literal, isFlat: segments.length === 1, token },
        signal,
      );
      count += page.files.length;
      if (count > keysMax) throw tooMuch(pattern);
      for (const file of page.files) if (isMatch(file.path.slice(folder.length), glob)) found.push(file);
      if (page.next === undefined) return found;
      if (seen.has(page.next)) throw this.#notWhole('it begins again');
      seen.add(page.next);
      token = page.next;
    }
  }

  async *read(file: RemoteFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(file.path)) {
      throw new AgentError('part.unreadable', `${file.name}: a key with "." or ".." between slashes has no address`, {
        hint: 'rename it, or narrow the pattern',
      });
    }
    const listed = parseTag(/^(.*?)(?: \S+Z)? \d+$/s.exec(file.version)?.[1] ?? '');
    // Not relative to it: a key that begins with a slash would lead out of the bucket.
    const url = new URL(this.#base);
    url.pathname += encodeKey(file.path);
    // A weak tag never fits it.
    const headers = listed.isWeak ? {} : { 'if-match': `"${listed.text}"` };
    const answer = await this.#ask(url, { statuses: [200, 404, 412], headers }, signal);
    try {
      if (answer.status === 404) throw goneFile(file);
      if (answer.status === 412) throw changedFile(file);
      // Some services do not know If-Match.
      checkVersion(file, listed, answer);
    } catch (error) {
      answer.body.destroy();
      throw error;
    }
    yield* bodyOf(this.#web, answer, signal, 'part.unreadable');
  }

  close(): void {
    this.#web.destroy();
  }

  async #list(
    {
      pattern,
      prefix,
      isFlat,
      token,
    }: {
      readonly pattern: RemotePattern;
      readonly prefix: string;
      readonly isFlat: boolean;
      readonly token: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<Page> {
    const query: Readonly<Record<string, string>> = {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(pageKeys),
      prefix,
      ...(isFlat && { delimiter: '/' }),
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const url = new URL(this.#base);
    url.search = Object.entries(query)
      .map(([key, value]) => `${key}=${encode(value)}`)
      .join('&');
    const answer = await this.#ask(url, { statuses: [200], headers: {} }, signal);
    return await this.#readPage(pattern, bodyOf(this.#web, answer, signal, 'source.unreadable'));
  }

  async #readPage({ root }: RemotePattern, body: AsyncIterable<Uint8Array>): Promise<Page> {
    const top: Record<string, string> = {};
    const entries: Record<string, string>[] = [];
    let entry: Record<string, string> = {};
    let prefixes = 0;
    try {
      await readElements(body, 'ListBucketResult', (element, text) => {
        const [, name = '', below] = element.split('/');
        if (name === 'Contents' && below === undefined) {
          entries.push(entry);
          entry = {};
        } else if (name === 'Contents' && below !== undefined) entry[below] ??= text;
        else if (name === 'CommonPrefixes' && below === undefined) prefixes++;
        else if (below === undefined && name !== '') top[name] = text;
      });
    } catch (error) {
      if (error instanceof XmlFault) throw this.#notWhole(error.message);
      throw error;
    }
    const isEncoded = top['EncodingType'] === 'url';
    const files = entries.flatMap((given) => this.#fileOf(root, given, isEncoded) ?? []);
    // Whatever a service says beside it: a list that can be asked for more may have more.
    const next = top['NextContinuationToken'] || undefined;
    const isTruncated = top['IsTruncated']?.trim().toLowerCase() ?? '';
    if (next === undefined && isTruncated !== 'false' && isTruncated !== '0') {
      const says = isTruncated === '' ? 'it does not say whether there is more' : 'there is more';
      throw this.#notWhole(`${says}, and nothing to ask for it by`);
    }
    // Keys, and what stands for many of them below a folder.
    const came = entries.length + prefixes;
    if (Number(top['KeyCount'] ?? 0) > came)
      throw this.#notWhole(`it says that it has ${top['KeyCount']} entries, and ${came} came`);
    return { files, next };
  }

  /** `undefined` for what stands for a folder. */
  #fileOf(root: string, given: Readonly<Record<string, string>>, isEncoded: boolean): RemoteFile | undefined {
    const { Key = '', ETag = '', Size = '', LastModified = '' } = given;
    const key = isEncoded ? decodeKey(Key) : Key;
    const bytes = Number(Size);
    const revisedAtMs = Date.parse(LastModified);
    if (key === undefined || key === '' || ETag === '' || !/^\d+$/.test(Size) || Number.isNaN(revisedAtMs)) {
      throw this.#notWhole('an entry lacks its key, tag, size or date');
    }
    if (key.endsWith('/')) return undefined;
    // The same weak tag may stand for other bytes, so that the time counts beside it.
    const tag = parseTag(ETag).isWeak ? `${ETag} ${new Date(revisedAtMs).toISOString()}` : ETag;
    return { name: root + key, path: key, bytes, version: `${tag} ${Size}`, revisedAtMs };
  }

  #notWhole(why: string): AgentError {
    return this.#web.failure(this.#base, {
      why: `the list of the bucket is not whole: ${why}`,
      hint: 'it is tried again; is this the address of a service like S3?',
    });
  }

  async #ask(
    url: URL,
    { statuses, headers }: { readonly statuses: readonly number[]; readonly headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<WebAnswer> {
    const { AwsV4Signer } = await import('aws4fetch');
    const { sessionToken, ...access } = this.#access;
    const signer = new AwsV4Signer({
      ...access,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      url: url.href,
      headers: { ...headers },
    });
    const signed = await signer.sign();
    const sent = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
    // A signature is for one address.
    return await this.#web.get(url, { headers: sent, statuses, redirectsMax: 0 }, signal);
  }
}

interface Tag {
  readonly text: string;
  readonly isWeak: boolean;
}

/** Some services leave its quotes out, in a list or in answers; something on the way may make it weak. */
function parseTag(written: string): Tag {
  const [, weak, quoted, bare = ''] = /^\s*(W\/)?(?:"(.*)"|(.*?))\s*$/s.exec(written) ?? [];
  return { text: quoted ?? bare, isWeak: weak !== undefined };
}

/** @throws AgentError `part.changing` where the answer is of another version than was listed; `part.unreadable` where nothing tells */
function checkVersion(file: RemoteFile, listed: Tag, { header }: WebAnswer): void {
  const untold = (why: string): AgentError =>
    new AgentError('part.unreadable', `${file.name}: the answer has ${why} which version it is`, {
      hint: 'is there something on the way that changes headers? let s3.endpoint name the service itself',
    });
  const etag = header('etag');
  if (etag === undefined) throw untold('no ETag, so that nothing says');
  const given = parseTag(etag);
  if (given.text !== listed.text) throw changedFile(file);
  if (!given.isWeak && !listed.isWeak) return;
  const modifiedMs = Date.parse(header('last-modified') ?? '');
  if (Number.isNaN(modifiedMs)) throw untold('only a weak ETag and no Last-Modified, which do not say');
  // The header has seconds, and the list mostly more.
  if (modifiedMs !== Math.floor(file.revisedAtMs / 1000) * 1000) throw changedFile(file);
}

function isMatch(below: string, glob: string): boolean {
  const name = below.slice(below.lastIndexOf('/') + 1);
  return !name.startsWith('~$') && (below === glob || path.posix.matchesGlob(below, glob));
}

/** As RFC 3986 has it, which signatures count on. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function encodeKey(key: string): string {
  return key.split('/').map(encode).join('/');
}

/** `undefined` where it is not encoded as it should be. */
function decodeKey(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
