/**
 * What a disk may hold after a crash. A file system promises little: what was synced is there, and of the rest anything may be, in
 * any order and torn anywhere. `crashStates` gives representatives of these states, for a crash after each operation.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';

/** Files by name, and folders, which have no content. */
export type Disk = ReadonlyMap<string, Buffer | 'folder'>;

/** A file is known by its number, whatever its name is. Folders are known by their names. */
export type Operation =
  | { readonly kind: 'write'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'create'; readonly name: string; readonly file: number }
  | { readonly kind: 'folder'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string; readonly file: number }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'sync'; readonly file: number }
  | { readonly kind: 'syncFolder'; readonly name: string }
  /** Something that the outside saw. */
  | { readonly kind: 'mark'; readonly what: string };

export interface CrashState {
  readonly disk: Disk;
  /** How many operations were done when the machine stopped. */
  readonly done: number;
  readonly how: string;
}

/** The files of a disk have their places in it as numbers. */
export function numbersOf(disk: Disk): Map<string, number> {
  return new Map([...disk.keys()].map((name, index) => [name, index]));
}

/** Each state once. @param isLookedAt for a crash after so many operations */
export function* crashStates(
  before: Disk,
  operations: readonly Operation[],
  isLookedAt: (done: number) => boolean,
): Generator<CrashState> {
  const seen = new Set<string>();
  for (let done = 0; done <= operations.length; done++) {
    if (!isLookedAt(done)) continue;
    for (const [how, kept] of variants(operations.slice(0, done))) {
      const disk = diskOf(before, kept);
      const marks = operations.slice(0, done).filter(({ kind }) => kind === 'mark').length;
      const name = `${marks} ${nameOf(disk)}`;
      if (seen.has(name)) continue;
      seen.add(name);
      yield { disk, done, how };
    }
  }
}

/** What may be left of operations, most of it said as those that are. */
function* variants(done: readonly Operation[]): Generator<readonly [how: string, kept: readonly Operation[]]> {
  const open = unsynced(done);
  const without = (dropped: ReadonlySet<Operation>): readonly Operation[] => done.filter((one) => !dropped.has(one));
  const all = new Set([...open.values()].flat());
  yield ['all of it', done];
  yield ['what was synced', without(all)];
  for (const [place, group] of open) {
    const others = new Set([...all].filter((one) => !group.includes(one)));
    yield [`all but ${place}`, without(new Set(group))];
    yield [`of what was not synced only ${place}`, without(others)];
    yield [`all but the first of ${place}`, without(new Set(group.slice(0, 1)))];
    yield [`of ${place} only the last`, without(new Set(group.slice(0, -1)))];
    for (let count = 1; place.startsWith('folder') && count < group.length; count++) {
      yield [`the first ${count} of ${place}`, without(new Set(group.slice(count)))];
      yield [`only the first ${count} of ${place}`, without(new Set([...others, ...group.slice(count)]))];
    }
    const last = group.at(-1);
    if (last?.kind !== 'write') continue;
    const zeros = { ...last, bytes: Buffer.alloc(last.bytes.length) };
    yield [`zeros at the end of ${place}`, done.map((one) => (one === last ? zeros : one))];
  }
  yield* torn(done, all);
}

/** The last write, as far as it came: disks write sectors of 512 bytes, most of them 4 KB. */
function* torn(
  done: readonly Operation[],
  open: ReadonlySet<Operation>,
): Generator<readonly [string, readonly Operation[]]> {
  const last = done.at(-1);
  if (last?.kind !== 'write') return;
  const lengths = new Set(
    [512, 4096, last.bytes.length - 512].filter((bytes) => bytes > 0 && bytes < last.bytes.length),
  );
  for (const bytes of lengths) {
    const half = { ...last, bytes: last.bytes.subarray(0, bytes) };
    yield [`torn after ${bytes} bytes`, [...done.slice(0, -1), half]];
    yield [
      `torn after ${bytes} bytes, and of the rest what was synced`,
      [...done.filter((one) => !open.has(one)), half],
    ];
  }
}

/** The operations that no sync has brought to the disk, by the file or folder that would have to be synced. */
function unsynced(done: readonly Operation[]): Map<string, Operation[]> {
  const open = new Map<string, Operation[]>();
  for (const one of done) {
    if (one.kind === 'mark') continue;
    if (one.kind === 'sync') open.delete(`file ${one.file}`);
    else if (one.kind === 'syncFolder') open.delete(`folder ${one.name}`);
    else {
      const place = 'name' in one ? `folder ${path.dirname(one.name)}` : `file ${one.file}`;
      open.set(place, [...(open.get(place) ?? []), one]);
    }
  }
  return open;
}

/** A file as it becomes, in memory that is taken once: a copy for each write would take most of the time. */
class Content {
  readonly #bytes: Buffer;
  #size: number;

  constructor(old: Buffer, bytesMax: number) {
    this.#bytes = Buffer.alloc(Math.max(old.length, bytesMax));
    this.#size = old.copy(this.#bytes);
  }

  write(at: number, bytes: Buffer): void {
    bytes.copy(this.#bytes, at);
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  /** What comes behind a new end is zeros. */
  resize(size: number): void {
    this.#bytes.fill(0, Math.min(size, this.#size));
    this.#size = size;
  }

  read(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}

function diskOf(before: Disk, operations: readonly Operation[]): Disk {
  const names = numbersOf(before);
  const folders = new Set([...before].filter(([, content]) => content === 'folder').map(([name]) => name));
  const old = [...before.values()];
  const sizes = new Map<number, number>();
  const contents = new Map<number, Content>();
  for (const one of operations) {
    if (one.kind !== 'write' && one.kind !== 'truncate') continue;
    const end = one.kind === 'write' ? one.at + one.bytes.length : one.size;
    sizes.set(one.file, Math.max(end, sizes.get(one.file) ?? 0));
  }
  const contentOf = (file: number): Content => {
    const was = old[file];
    const found = contents.get(file) ?? new Content(Buffer.isBuffer(was) ? was : Buffer.alloc(0), sizes.get(file) ?? 0);
    contents.set(file, found);
    return found;
  };
  for (const one of operations) {
    if (one.kind === 'create') names.set(one.name, one.file);
    else if (one.kind === 'folder') folders.add(one.name);
    else if (one.kind === 'unlink') names.delete(one.name);
    else if (one.kind === 'rename') {
      names.delete(one.name);
      names.set(one.to, one.file);
    } else if (one.kind === 'write') contentOf(one.file).write(one.at, one.bytes);
    else if (one.kind === 'truncate') contentOf(one.file).resize(one.size);
  }
  const disk = new Map<string, Buffer | 'folder'>([...folders].map((name) => [name, 'folder']));
  for (const [name, file] of names) if (!folders.has(name)) disk.set(name, contentOf(file).read());
  return new Map([...disk].filter(([name]) => isBelow(folders, name)));
}

/** The top of the disk has no folder of its own. */
function isBelow(folders: ReadonlySet<string>, name: string): boolean {
  const folder = path.dirname(name);
  return folder === '.' || (folders.has(folder) && isBelow(folders, folder));
}

/** The index beside a log is no state: whoever opens the database first makes it anew. */
function nameOf(disk: Disk): string {
  const hash = createHash('sha256');
  for (const [name, content] of [...disk].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name.endsWith('-shm')) continue;
    hash.update(JSON.stringify([name, content.length])).update(content);
  }
  return hash.digest('base64');
}
