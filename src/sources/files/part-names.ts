/**
 * How files are named as parts. An agent alone names them by their path relative to the config file. Agents that share a ledger have to
 * give one file one name, wherever it is mounted and wherever the config lies: there a name begins with the fixed directory of its
 * pattern as the config has it, with the names of variables and not their values, and ends with the path below it.
 */
import path from 'node:path';
import type { Part } from '../../core/model.ts';
import type { RemotePattern } from '../remote/address.ts';
import { type Glob, isMatch } from './glob.ts';

/** The patterns of `files`, in their order, as the config has them. */
export interface Naming {
  readonly files: readonly string[];
  /** Agents of several machines share a ledger. */
  readonly isShared: boolean;
}

type Named = Pick<Part, 'name' | 'below'>;

export interface PartNames {
  /** @param file absolute */
  ofFile(glob: Glob, file: string): Named;
  /** @param address without the user @param file below the root of its place */
  ofRemote(pattern: RemotePattern, file: { readonly name: string; readonly path: string }): Named;
  /** The absolute path of a part that is a file of this machine. */
  fileOf(name: string): string;
  /**
   * What a part is called by now that had this name before the ledger was shared, or while it was. `undefined` where it is not known to
   * have another one. Absent where names are the same in both cases.
   */
  readonly now?: (name: string) => string | undefined;
}

export interface Patterns {
  readonly globs: readonly Glob[];
  readonly remotes: readonly RemotePattern[];
  /** For each of `files`, in the order of the config. */
  readonly all: readonly (Glob | RemotePattern)[];
}

/** Where a pattern's files are, and what their names begin with where a ledger is shared. */
interface Place {
  readonly prefix: string;
  /** The prefix names a place that each machine may have elsewhere. */
  readonly isPlaced: boolean;
}

export function partNames(baseDir: string, { globs, remotes, all }: Patterns, naming: Naming | undefined): PartNames {
  const relative = (file: string): string => slashed(path.relative(baseDir, file));
  const plain: PartNames = {
    ofFile: (_glob, file) => ({ name: relative(file) }),
    ofRemote: (_pattern, { name }) => ({ name }),
    fileOf: (name) => path.resolve(baseDir, name),
  };
  if (naming === undefined) return plain;
  const places = new Map(all.map((pattern, at) => [pattern, placeOf(pattern, naming.files[at] ?? '')] as const));
  const placed = <P extends Glob | RemotePattern>(patterns: readonly P[]): readonly (Place & { pattern: P })[] =>
    patterns
      .map((pattern) => ({ ...(places.get(pattern) as Place), pattern }))
      // The longest one that a name begins with is the place that it was named by, or the same place.
      .toSorted((a, b) => b.prefix.length - a.prefix.length);
  const localPlaces = placed(globs);
  const remotePlaces = placed(remotes).filter(({ isPlaced }) => isPlaced);
  const fileAt = (name: string): string | undefined => {
    const found = localPlaces.find(({ prefix }) => name.startsWith(prefix));
    return found && path.resolve(found.pattern.directory, name.slice(found.prefix.length));
  };
  const isNew = (name: string): boolean =>
    [...localPlaces, ...remotePlaces].some(({ prefix, isPlaced }) => isPlaced && name.startsWith(prefix));
  const hasOthers = [...places.values()].some(({ isPlaced }) => isPlaced);
  if (!naming.isShared) {
    const former = (name: string): string | undefined => {
      if (!isNew(name)) return undefined;
      const remote = remotePlaces.find(({ prefix }) => name.startsWith(prefix));
      if (remote !== undefined) return rootOf(remote.pattern) + name.slice(remote.prefix.length);
      const file = fileAt(name);
      return file && relative(file);
    };
    return hasOthers ? { ...plain, now: former } : plain;
  }
  const named = (pattern: Glob | RemotePattern, below: string): Named => {
    const { prefix, isPlaced } = places.get(pattern) as Place;
    return { name: prefix + below, ...(isPlaced && { below: belowVariable(prefix) + below }) };
  };
  const ofFile: PartNames['ofFile'] = (glob, file) => named(glob, slashed(path.relative(glob.directory, file)));
  const ofRemote: PartNames['ofRemote'] = (pattern, file) =>
    places.get(pattern)?.isPlaced === true
      ? named(pattern, file.path.slice(pattern.directory === '' ? 0 : pattern.directory.length + 1))
      : { name: file.name };
  const shared = (name: string): string | undefined => {
    const remote = remotePlaces.find(({ pattern }) => name.startsWith(rootOf(pattern)));
    if (remote !== undefined) return remote.prefix + name.slice(rootOf(remote.pattern).length);
    const file = path.resolve(baseDir, name);
    const glob = globs.find((one) => isMatch(one, file));
    return glob && ofFile(glob, file).name;
  };
  return {
    ofFile,
    ofRemote,
    fileOf: (name) => fileAt(name) ?? plain.fileOf(name),
    now: (name) => (isNew(name) ? undefined : withMember(name, shared)),
  };
}

/** A member of an archive and a sheet of a workbook go with their file: `2026.zip#march/revenue.csv`. */
function withMember(name: string, now: (file: string) => string | undefined): string | undefined {
  const whole = now(name);
  if (whole !== undefined) return whole;
  for (let at = name.indexOf('#'); at > 0; at = name.indexOf('#', at + 1)) {
    const file = now(name.slice(0, at));
    if (file !== undefined) return file + name.slice(at);
  }
  return undefined;
}

/** A member of an archive or a sheet of a workbook, as a part of its own. */
export function partIn(file: Part, member: string): Part {
  const { name, below, otherNames } = file;
  const of = (one: string): string => `${one}#${member}`;
  return {
    ...file,
    name: of(name),
    ...(below !== undefined && { below: of(below) }),
    ...(otherNames !== undefined && { otherNames: otherNames.map(of) }),
  };
}

function placeOf(pattern: Glob | RemotePattern, written: string): Place {
  const prefix = prefixOf(written, pattern.segments.length);
  const isRemote = 'protocol' in pattern;
  return { prefix, isPlaced: hasVariable(prefix) || (!isRemote && prefix.startsWith('/')) };
}

/** A variable of the config, and not the text of one: `$${` stands for `${`. */
const reference = /(?<!\$)\$\{([A-Za-z_]\w*)[^}]*\}/g;

function hasVariable(text: string): boolean {
  return text.search(reference) >= 0;
}

/**
 * The fixed directory of a pattern as it is written, with what stands between it and the path below. A variable may hold several
 * segments, also some with wildcards: one that reaches into the path below belongs to the directory. Users and passwords are left out.
 * @param below how many segments the pattern has below its fixed directory
 */
function prefixOf(written: string, below: number): string {
  const whole = written.replace(reference, (text, name: string) =>
    text.includes('@') ? `\${${name}}` : text.replaceAll('/', '\0'),
  );
  const segments = whole
    .replace(/:\/\/[^/]*@/, '://')
    .split('/')
    .filter((one, at, all) => one !== '.' && (one !== '' || at === 0 || all[at - 1]?.endsWith(':') === true));
  const end = Math.max(segments.length - below, segments.findLastIndex(hasVariable) + 1);
  return segments
    .slice(0, end)
    .map((one) => `${one}/`)
    .join('')
    .replaceAll('\0', '/');
}

/** What follows the last variable of a prefix: the same on all machines, also in names that they had before. */
function belowVariable(prefix: string): string {
  const last = [...prefix.matchAll(reference)].at(-1);
  const rest = last === undefined ? '' : prefix.slice(last.index + last[0].length);
  return rest.startsWith('/') ? rest.slice(1) : '';
}

function rootOf({ root, directory }: RemotePattern): string {
  return directory === '' ? root : `${root}${directory}/`;
}

function slashed(file: string): string {
  return file.replaceAll(path.sep, '/');
}
