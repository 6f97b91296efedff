/**
 * Globs that never give fewer files than there are, which the libraries do. Measured with fast-glob 3.3, tinyglobby 0.2
 * and `fs.glob` of Node 24: all three give no files where a directory is missing or is a link that leads nowhere, as it is
 * when a share is not mounted. A directory without permission fails in fast-glob and is left out by the other two. And
 * each follows links in `*` and `**` alike: either a link to a folder is never entered, or one that leads upwards is
 * walked again and again.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { accessError, codeOf } from './access.ts';

/** A glob, cut where its fixed directories end. */
export interface Glob {
  /** As written. */
  readonly text: string;
  /** Absolute; no wildcard is in it. */
  readonly directory: string;
  /** The segments below it, at least one; the last one names files. */
  readonly segments: readonly string[];
}

/** Why a text is not a glob; `undefined` where it is one. */
export function findGlobProblem(text: string): string | undefined {
  const segments = text.split('/');
  if (text === '' || text.includes('\0')) return 'not a glob: it is empty or holds a NUL character';
  const firstMagic = segments.findIndex(isMagic);
  if (firstMagic >= 0 && segments.indexOf('..', firstMagic) >= 0) return '".." may not follow a wildcard';
  if (segments.some((segment) => /\{[^}]*$/.test(segment) && isMagic(segment))) {
    return 'braces may not hold a "/": write one glob for each';
  }
  return findSlowness(text);
}

/** With these the worst name, of 255 bytes, takes 0.13 s. */
const starsMax = 4;
const alternativesMax = 1000;

/**
 * Why a glob could keep the matcher busy, which nothing can interrupt. Measured on Node 24 with a name of 255 times `a`:
 * `*a*a*a*b` takes 127 ms and `*a*a*a*a*b` 10 s. `+(*a)b` takes 238 ms for 26 letters, `{a,b}` written 15 times 9 s, and
 * `{1..1000000}` 86 s.
 */
function findSlowness(text: string): string | undefined {
  if (/[*+]\(/.test(text)) return '"*(" and "+(" repeat a group: write "*", or "[(]" where the name holds a "("';
  if (text.split('/').some((segment) => (segment.match(/\*+|!\(/g) ?? []).length > starsMax)) {
    return `more than ${starsMax} wildcards "*" in one name: leave some out, one matches any text`;
  }
  return countAlternatives(text) > alternativesMax
    ? `its braces stand for more than ${alternativesMax} globs`
    : undefined;
}

/** How many globs its braces stand for, or more. */
function countAlternatives(text: string): number {
  const [braces, content = ''] = /\{([^{}]*)\}/.exec(text) ?? [];
  if (braces === undefined) return 1;
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)/.exec(content) ?? [];
  const here = from === undefined ? content.split(',').length : Math.abs(Number(to) - Number(from)) + 1;
  return here * countAlternatives(text.replace(braces, ''));
}

export function parseGlob(baseDir: string, text: string): Glob {
  const segments = text.split('/').filter((segment, at) => segment !== '.' && (segment !== '' || at === 0));
  const magicAt = segments.findIndex(isMagic);
  const fixed = magicAt < 0 ? segments.length - 1 : magicAt;
  // The leading empty segment of an absolute glob becomes `/`.
  const directory = path.resolve(baseDir, segments.slice(0, fixed).join('/') || (text.startsWith('/') ? '/' : '.'));
  return { text, directory, segments: segments.slice(fixed) };
}

/** Whether the glob names this absolute path. */
export function isMatch(glob: Glob, file: string): boolean {
  const below = path.relative(glob.directory, file);
  const [only = '', ...more] = glob.segments;
  if (more.length === 0 && !below.includes(path.sep)) return below === only || isNamed(below, only);
  const pattern = glob.segments.join('/');
  return below === pattern || path.matchesGlob(below, pattern);
}

/**
 * The absolute paths that the glob names, files or not, each once, in no particular order. `*` and `**` match no
 * leading dot, and `**` follows no links to directories, so it always ends.
 * @throws AgentError `source.unreadable` where a directory on the way cannot be read, or the fixed one is not there.
 */
export async function findMatches(glob: Glob, signal: AbortSignal): Promise<Set<string>> {
  const found = new Set<string>();
  await walk(glob.directory, glob.segments, { found, signal });
  if (found.size === 0) await readdir(glob.directory).catch((cause) => throwMissing(glob.directory, cause));
  return found;
}

/** Up to five names in the glob's fixed directory, for a person whose glob matches nothing. */
export async function listNeighbours(glob: Glob): Promise<string> {
  if (glob.text.includes('\\')) return 'write "/" between folders; a share of Windows is read where it is mounted';
  const names = (await readdir(glob.directory).catch(throwAccess(glob.directory))).toSorted();
  if (names.length === 0) return 'that directory is empty';
  const otherwise = composedOtherwise(names, glob.segments[0] ?? '');
  if (otherwise !== undefined) return otherwise;
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `that directory holds ${names.slice(0, 5).join(', ')}${more}`;
}

/**
 * For a name that looks like one of these and differs in how its letters are composed: `Ü` is one character (NFC), or `U` and a
 * mark above it (NFD), as many files from a Mac have it. To a disk of Linux these are two names.
 */
function composedOtherwise(names: readonly string[], segment: string): string | undefined {
  const composed = segment.normalize('NFC');
  const name = names.find((one) => {
    const whole = one.normalize('NFC');
    return one !== segment && !isNamed(one, segment) && (whole === composed || isNamed(whole, composed));
  });
  if (name === undefined) return undefined;
  const form = name === name.normalize('NFC') ? 'composed (NFC)' : 'decomposed (NFD)';
  const open = composed.replace(/[^\0-\x7f]+/gu, (letters) =>
    [...letters].map((letter) => (letter === letter.normalize('NFD') ? letter : '*')).join(''),
  );
  return `${name} is there, and looks the same: its letters with marks are ${form}, those of the config are not; write ${open.replaceAll(/\*{2,}/g, '*')}, or rename it`;
}

/** The failure of a directory that cannot be listed, where it, or one above it, may only be composed otherwise. */
async function throwMissing(directory: string, cause: unknown): Promise<never> {
  for (let at = directory; codeOf(cause) === 'ENOENT' && at !== path.dirname(at); at = path.dirname(at)) {
    const names = await readdir(path.dirname(at)).catch(() => undefined);
    const hint = names && composedOtherwise(names, path.basename(at));
    if (hint !== undefined) throw new AgentError('source.unreadable', `${directory} does not exist`, { cause, hint });
    if (names !== undefined) break;
  }
  throw accessError('source.unreadable', directory, cause);
}

interface Walk {
  readonly found: Set<string>;
  readonly signal: AbortSignal;
}

async function walk(directory: string, segments: readonly string[], state: Walk): Promise<void> {
  state.signal.throwIfAborted();
  const [segment, ...rest] = segments;
  if (segment === undefined) return;
  if (segment === '**') return await walkDeep(directory, rest, state);
  if (!isMagic(segment)) {
    const next = path.join(directory, segment);
    if (rest.length > 0) await walk(next, rest, state);
    else if (await isThere(next)) state.found.add(next);
    return;
  }
  for (const entry of await list(directory)) {
    if (entry.name !== segment && !isNamed(entry.name, segment)) continue;
    const next = path.join(directory, entry.name);
    if (entry.name.includes('\uFFFD')) {
      throw new AgentError('source.unreadable', `${next}: that name is not utf-8`, { hint: 'rename it' });
    }
    if (rest.length === 0) state.found.add(next);
    else if (entry.isDirectory() || entry.isSymbolicLink()) await walk(next, rest, state);
  }
}

async function walkDeep(directory: string, rest: readonly string[], state: Walk): Promise<void> {
  await walk(directory, rest.length === 0 ? ['*'] : rest, state);
  for (const entry of await list(directory)) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    await walk(path.join(directory, entry.name), ['**', ...rest], state);
  }
}

/** Names differ in upper and lower case alone on these. */
const ignoresCase = process.platform === 'win32' || process.platform === 'darwin';

/** Whether a name, which holds no `/`, is one that a segment with a wildcard means. */
export function isNamed(name: string, segment: string): boolean {
  // Node loads its matcher when it is first asked, in 5 ms of CPU time, and most globs have no other wildcard than `*`.
  if (ignoresCase || /[^*\w .-]|\*\*/.test(segment)) return path.matchesGlob(name, segment);
  const [start = '', ...pieces] = segment.split('*');
  const end = pieces.pop() ?? '';
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false;
  if (start === '' && (name === '' || name.startsWith('.'))) return false;
  let at = start.length;
  for (const piece of pieces) {
    at = name.indexOf(piece, at);
    if (at < 0) return false;
    at += piece.length;
  }
  return at <= name.length - end.length;
}

/** The entries of a directory; empty where it does not exist. A link that leads nowhere is a failure. */
async function list(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTDIR' || (code === 'ENOENT' && !(await isThere(directory)))) return [];
    throw accessError('source.unreadable', directory, error);
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw accessError('source.unreadable', file, error);
  }
}

function throwAccess(file: string): (cause: unknown) => never {
  return (cause) => {
    throw accessError('source.unreadable', file, cause);
  };
}

export function isMagic(segment: string): boolean {
  return /[*?[{]|[!@+]\(/.test(segment);
}
