/** The place of one source: parts that come, change and go while the agent looks at them, and everything that can be wrong with them. */
import { AgentError } from '../../core/errors.ts';

/** One row as the file has it, and what it means. */
export interface WrittenRow {
  readonly fields: readonly string[];
  /** `undefined`: no reader could say what it means. */
  readonly means: readonly Meaning[] | undefined;
}

/** One reading, as whoever wrote the row meant it. */
export interface Meaning {
  readonly driver: string;
  readonly month: number;
  /** Which of two readings of a month is later. */
  readonly at: number;
  readonly entry: number;
  /** The value, as a whole number of units of 10^-scale. */
  readonly units: bigint;
  readonly scale: number;
}

/** What a file holds. */
export interface Sheet {
  readonly columns: readonly string[];
  readonly rows: readonly WrittenRow[];
  /** Equal for equal rows. */
  readonly hash: string;
  readonly endsWithLineEnd: boolean;
  /** Why it cannot be read at all. */
  readonly fault?: string;
  /** What was done to it that its owner did not mean. */
  readonly slip?: string;
  /** It is half of what its owner meant. */
  readonly isCut?: boolean;
  /** Rows of it are taken from an earlier read, and are others in the file by now. */
  readonly isStale?: boolean;
}

/** A part of an accepted read, as the agent names it. */
export interface NamedPart {
  readonly name: string;
  readonly kind: string;
  readonly carried: boolean;
}

export interface WorldFile {
  readonly sheet: Sheet;
  readonly version: string;
  readonly revisedAtMs: number;
}

/** What kind of place a source reads, as far as it matters to what can happen there. */
export interface PlaceKind {
  /** Files of text, files of bytes (workbooks, Parquet), or a server that answers a query. */
  readonly nature: 'text' | 'bytes' | 'server';
  /** It is text, whose end tells whether it was written to its end. */
  readonly isText: boolean;
  readonly isExpensive: boolean;
  /** Only its newest part counts. */
  readonly isNewestOnly: boolean;
  /** See `Source.mayLag`. */
  readonly mayLag: boolean;
  /** Its versions are times that a query answers (`changed`). */
  readonly isDated: boolean;
  /** Rows that are appended to its files can be read alone. */
  readonly mayGrow: boolean;
}

interface Writing {
  readonly revisedAtMs: number;
  /** Of an earlier state that is back, where the place says which one it shows. */
  readonly version?: string | undefined;
  /** The file stays the same one, and only its content changes. */
  readonly isInPlace?: boolean;
}

/** What happens to the next reads. */
export type ReadFault = 'fails' | 'changes' | 'hangs';

const serverStartMs = Date.UTC(2026, 2, 15);

export class Place {
  readonly name: string;
  readonly kind: PlaceKind;
  readonly files = new Map<string, WorldFile>();
  /** The place itself cannot be seen: a share that is not mounted, a server that is down. */
  isAway = false;
  readonly faults: ReadFault[] = [];
  /** The parts of the last look, each as it was when all of it was read last. */
  listed: readonly string[] = [];
  readonly read = new Map<string, WorldFile>();
  /** The same by version, which an earlier state has again where it is dated: an answer that is known by its version is not asked for. */
  readonly #readAs = new Map<string, WorldFile>();
  /** Its files are long enough that what is appended is read alone. */
  grows = false;
  /** Sheets that were read whole, by hash: what a file is compared with that has grown since. */
  readonly known = new Map<string, Sheet>();
  watcher: (() => void) | undefined;
  readonly mark: (name: string) => void;
  #versions = 0;

  constructor(name: string, kind: PlaceKind, mark: (name: string) => void) {
    this.name = name;
    this.kind = kind;
    this.mark = mark;
  }

  write(part: string, sheet: Sheet, { revisedAtMs, version, isInPlace = false }: Writing): void {
    this.#versions++;
    const before = this.files.get(part);
    const node = isInPlace && before !== undefined ? nodeOf(before.version) : String(this.#versions);
    this.files.set(part, { sheet, version: version ?? this.#version(node), revisedAtMs });
  }

  /** A server has a clock of its own, which nobody sets here. */
  #version(node: string): string {
    if (!this.kind.isDated) return `v${this.#versions}@${node}`;
    const time = new Date(serverStartMs + this.#versions * 1000).toISOString().slice(0, 19).replace('T', ' ');
    return `answer ${JSON.stringify([[time]])}`;
  }

  /** All of it was read. */
  wasRead(part: string, file: WorldFile): void {
    this.read.set(part, file);
    if (this.kind.isDated) this.#readAs.set(file.version, file);
  }

  /** One look of the agent: the parts with their versions. */
  list(): readonly { readonly name: string; readonly version: string; readonly revisedAtMs: number }[] {
    this.listed = [...this.files.keys()];
    return [...this.files].map(([name, { version, revisedAtMs }]) => {
      const known = this.#readAs.get(version);
      if (known !== undefined) this.read.set(name, known);
      return { name, version, revisedAtMs };
    });
  }

  remove(part: string): void {
    this.files.delete(part);
  }

  /** Takes away what a clock that was set back since has dated ahead: whatever comes, that would be the newest file. */
  removeAfter(nowMs: number): void {
    for (const [part, { revisedAtMs }] of this.files) if (revisedAtMs > nowMs) this.remove(part);
  }
}

/** Which file of its disk a version is of. */
export function nodeOf(version: string): string {
  return version.slice(version.indexOf('@') + 1);
}

/** @throws AgentError `part.unreadable` */
export function seenIn({ files, isAway }: Place, name: string): WorldFile {
  const file = files.get(name);
  if (isAway || file === undefined) throw new AgentError('part.unreadable', `${name}: it is not there any more`);
  return file;
}

const renamed = ' (renamed)';

/** The key of a source that has another one in the config from now on, for the same place; of one that has, the key before. */
export function renamedSource(source: string): string {
  return source.endsWith(renamed) ? placeNameOf(source) : source + renamed;
}

/** The place that a source reads, whatever its key is now. */
export function placeNameOf(source: string): string {
  return source.endsWith(renamed) ? source.slice(0, -renamed.length) : source;
}

/** What all rows of a part share: a mapping may name these as columns. */
export function sharedTexts(part: string): Readonly<Record<string, string>> {
  return { file: part.slice(part.lastIndexOf('/') + 1), sheet: 'Sheet1' };
}
