/** Patterns of `files:` that name files on another machine: `s3://bucket/…`, `sftp://host/…`, `https://host/dav/…`. */
import { findGlobProblem, isMagic } from '../files/glob.ts';
import { hasReadableUser } from '../../http/credentials.ts';

/** How such a place is spoken to: `dav` over http or https. */
export type Protocol = 's3' | 'sftp' | 'dav';

/** A pattern, cut where its fixed folders end. */
export interface RemotePattern {
  readonly protocol: Protocol;
  /** What messages and names of parts begin with: scheme and host, without user and password, or the bucket. */
  readonly root: string;
  /** The host, or the bucket. */
  readonly host: string;
  readonly port: number | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Of `dav`: whether TLS is spoken. */
  readonly isEncrypted: boolean;
  /** Folders without wildcards, from the top: `a/b`, or ''. */
  readonly directory: string;
  /** The segments below it, at least one; the last one names files. */
  readonly segments: readonly string[];
}

const form = /^(s3|sftp|https?):\/\/([^/]*)(?:\/([^]*))?$/i;

export function isRemote(text: string): boolean {
  return form.test(text);
}

/** Why a text is neither an address that is known nor the path of a file. It is not shown, since it may hold a password. */
export function unknownAddress(text: string): AddressProblem | undefined {
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(text) ?? [];
  if (scheme === undefined || isRemote(text)) return undefined;
  const hint =
    scheme.toLowerCase() === 'file'
      ? 'write the path alone'
      : 'files are read by path, s3://, sftp:// and https:// (WebDAV); mount others, or bring a copy';
  return { message: `${scheme}:// is no place that files are read from`, hint };
}

interface AddressProblem {
  readonly message: string;
  readonly hint: string;
}

/** No message shows the text: it may hold a password. */
export function parseRemote(text: string): RemotePattern | AddressProblem {
  const [, scheme = '', authority = '', below = ''] = form.exec(text) ?? [];
  const protocol = scheme.toLowerCase();
  if (protocol === 's3') {
    if (!/^[a-z\d][a-z\d._-]{1,253}[a-z\d]$/i.test(authority)) {
      return {
        message: 'not the name of a bucket',
        hint: 'write s3://BUCKET/FOLDER/*.csv; endpoint and keys stand under s3',
      };
    }
    return patternOf(
      { ...nobody, protocol: 's3', root: `s3://${authority}/`, host: authority, isEncrypted: true },
      below,
    );
  }
  const url = URL.parse(`${protocol === 'sftp' ? 'https' : protocol}://${authority}`);
  if (url === null || url.hostname === '' || /[?#]/.test(authority)) {
    return { message: 'not the address of a server', hint: `write ${protocol}://HOST/FOLDER/*.csv` };
  }
  if (!hasReadableUser(url)) return { message: 'a user or password that is not well written', hint: 'write % as %25' };
  const port = portOf(authority);
  const server = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    user: url.username === '' ? undefined : decodeURIComponent(url.username),
    password: url.password === '' ? undefined : decodeURIComponent(url.password),
    root: `${protocol}://${url.hostname}${port === undefined ? '' : `:${port}`}/`,
  };
  if (protocol === 'sftp') return patternOf({ ...server, protocol: 'sftp', isEncrypted: true }, below);
  return patternOf({ ...server, protocol: 'dav', isEncrypted: protocol === 'https' }, decoded(below));
}

const nobody = { port: undefined, user: undefined, password: undefined };

/** Not by `URL`, which leaves out the usual port of https: sftp has another one. */
function portOf(authority: string): number | undefined {
  const [, digits] = /:(\d+)$/.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** An address may be copied from a browser. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A name with a "%" in it, as it is.
    return path;
  }
}

function patternOf(
  server: Omit<RemotePattern, 'directory' | 'segments'>,
  below: string,
): RemotePattern | AddressProblem {
  const segments = below.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.length === 0 || below.endsWith('/')) {
    return { message: 'it names no files', hint: 'end it with a name or a pattern of names, such as *.csv' };
  }
  if (segments.includes('..')) return { message: '".." in an address', hint: 'write the folder itself' };
  const problem = findGlobProblem(segments.join('/'));
  if (problem !== undefined) return { message: problem, hint: 'wildcards are those of local files' };
  const magicAt = segments.findIndex(isMagic);
  const fixed = magicAt < 0 ? segments.length - 1 : magicAt;
  return { ...server, directory: segments.slice(0, fixed).join('/'), segments: segments.slice(fixed) };
}

/** A pattern for messages. */
export function showPattern({ root, directory, segments }: RemotePattern): string {
  return `${root}${[directory, ...segments].filter((text) => text !== '').join('/')}`;
}
