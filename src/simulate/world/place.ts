/** The place of one source: parts that come, change and go while the agent looks at them, and everything that can be wrong with them. */
import { AgentError } from '../../core/errors.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { columnNeeds } from '../../core/mapping/columns.ts';
import type { Content, Part } from '../../core/model.ts';
import type { Source, TextEnd } from '../../core/ports.ts';
import type { Mapping } from '../../core/settings.ts';
import type { WorldClock } from './clock.ts';

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
  watcher: (() => void) | undefined;
  #versions = 0;

  constructor(name: string, kind: PlaceKind) {
    this.name = name;
    this.kind = kind;
  }

  /** @param version of an earlier state that is back, where the place says which one it shows */
  write(part: string, sheet: Sheet, revisedAtMs: number, version?: string): void {
    this.#versions++;
    this.files.set(part, { sheet, version: version ?? this.#version(), revisedAtMs });
  }

  /** A server has a clock of its own, which nobody sets here. */
  #version(): string {
    if (!this.kind.isDated) return `v${this.#versions}`;
    const time = new Date(serverStartMs + this.#versions * 1000).toISOString().slice(0, 19).replace('T', ' ');
    return `answer ${JSON.stringify([[time]])}`;
  }

  remove(part: string): void {
    this.files.delete(part);
  }
}

export interface Reading {
  readonly place: Place;
  readonly clock: WorldClock;
  readonly mapping: Mapping;
  readonly timeoutMs: number;
  readonly isWatched: boolean;
}

/** The place as one look of the agent sees it. */
export function sourceAt({ place, clock, mapping, timeoutMs, isWatched }: Reading): Source {
  const { kind } = place;
  const seen = (part: Part): WorldFile => {
    const file = place.files.get(part.name);
    if (place.isAway || file === undefined)
      throw new AgentError('part.unreadable', `${part.name}: it is not there any more`);
    return file;
  };
  return {
    newestOnly: kind.isNewestOnly,
    isExpensive: kind.isExpensive,
    mayLag: kind.mayLag,
    async parts() {
      if (place.isAway) throw new AgentError('source.unreadable', `${place.name}: the place cannot be reached`);
      if (place.files.size === 0) throw new AgentError('source.unreadable', `${place.name}: nothing matches`);
      const parts = [...place.files].map(([name, { version, revisedAtMs }]) => ({ name, version, revisedAtMs }));
      place.listed = parts.map(({ name }) => name);
      return parts.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async *rows(part, signal): AsyncGenerator<Batch, Content, void> {
      const file = seen(part);
      const { sheet, version, revisedAtMs } = file;
      const fault = place.faults.shift();
      if (fault === 'hangs') await clock.sleep(2 * timeoutMs, signal);
      if (sheet.fault !== undefined) throw new AgentError('part.unreadable', `${part.name}: ${sheet.fault}`);
      yield batchOf(part.name, fault === 'fails' ? { ...sheet, rows: sheet.rows.slice(0, 3) } : sheet, mapping);
      if (fault === 'fails')
        throw new AgentError(
          'part.unreadable',
          `${part.name}: ${kind.nature === 'server' ? 'the connection' : 'the share'} was lost half way`,
        );
      if (fault === 'changes' || seen(part).version !== version)
        throw new AgentError('part.changing', `${part.name} changed while it was read`);
      place.read.set(part.name, file);
      return contentOf(sheet, { version, revisedAtMs, isText: kind.isText });
    },
    async hash(part) {
      const { sheet, version } = seen(part);
      return { hash: sheet.hash, version };
    },
    async textEnd(part): Promise<TextEnd | undefined> {
      if (!kind.isText) return undefined;
      const { sheet, revisedAtMs } = seen(part);
      const quietMs = Math.max(0, clock.now().getTime() - revisedAtMs);
      return { endsWithLineEnd: sheet.endsWithLineEnd, quietMs, quietNeededMs: 60_000 };
    },
    ...(isWatched && {
      async watch(changed: () => void) {
        place.watcher = changed;
        return {
          async [Symbol.asyncDispose]() {
            place.watcher = undefined;
          },
        };
      },
    }),
  };
}

function contentOf(
  { hash, endsWithLineEnd }: Sheet,
  {
    version,
    revisedAtMs,
    isText,
  }: { readonly version: string; readonly revisedAtMs: number; readonly isText: boolean },
): Content {
  return { hash, version, revisedAtMs, ...(isText ? { endsWithLineEnd } : {}) };
}

/** What all rows of a part share: a mapping may name these as columns. */
export function sharedTexts(part: string): Readonly<Record<string, string>> {
  return { file: part.slice(part.lastIndexOf('/') + 1), sheet: 'Sheet1' };
}

function batchOf(part: string, { columns, rows }: Sheet, mapping: Mapping): Batch {
  const coder = new RowCoder((names) => columnNeeds(mapping, names));
  return coder.batch({ columns, rows: rows.map(({ fields }) => fields), shared: sharedTexts(part) });
}
