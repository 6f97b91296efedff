/** Looks of the agent at a place of the simulated world, and reads, with everything that can go wrong on the way. */
import { AgentError } from '../../core/errors.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { columnNeeds } from '../../core/mapping/columns.ts';
import type { Content, Part } from '../../core/model.ts';
import type { Clock, Source, TextEnd } from '../../core/ports.ts';
import type { Mapping } from '../../core/settings.ts';
import { type Shown, endOf, lookAt, shownBehind } from './growing.ts';
import { type Place, type Sheet, type WorldFile, seenIn, sharedTexts } from './place.ts';

export interface Reading {
  readonly place: Place;
  readonly clock: Clock;
  readonly mapping: Mapping;
  readonly timeoutMs: number;
  readonly isWatched: boolean;
}

/** The place as one look of the agent sees it. */
export function sourceAt({ place, clock, mapping, timeoutMs, isWatched }: Reading): Source {
  const { kind } = place;
  const seen = ({ name }: Part): WorldFile => seenIn(place, name);
  /** @param shown the sheet as it is read: its rows that are given, and all that is known of it then */
  async function* read(
    part: Part,
    signal: AbortSignal,
    shown: (sheet: Sheet) => Shown,
  ): AsyncGenerator<Batch, Content> {
    const file = seen(part);
    const { version, revisedAtMs } = file;
    const fault = place.faults.shift();
    if (fault === 'hangs') await clock.sleep(2 * timeoutMs, signal);
    if (file.sheet.fault !== undefined) throw new AgentError('part.unreadable', `${part.name}: ${file.sheet.fault}`);
    const { rows, sheet } = shown(file.sheet);
    yield batchOf(part.name, { columns: sheet.columns, rows: fault === 'fails' ? rows.slice(0, 3) : rows }, mapping);
    if (fault === 'fails')
      throw new AgentError(
        'part.unreadable',
        `${part.name}: ${kind.nature === 'server' ? 'the connection' : 'the share'} was lost half way`,
      );
    if (fault === 'changes' || seen(part).version !== version) throw changing(part);
    place.wasRead(part.name, { ...file, sheet });
    return contentOf(sheet, { version, revisedAtMs, place });
  }
  return {
    newestOnly: kind.isNewestOnly,
    isExpensive: kind.isExpensive,
    mayLag: kind.mayLag,
    async parts() {
      if (place.isAway) throw new AgentError('source.unreadable', `${place.name}: the place cannot be reached`);
      if (place.files.size === 0) throw new AgentError('source.unreadable', `${place.name}: nothing matches`);
      return [...place.list()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    rows: (part, signal) => read(part, signal, (sheet) => ({ rows: sheet.rows, sheet })),
    ...(place.grows && {
      growing: {
        look: async ({ name }, earlier) => lookAt(place, name, earlier),
        rows(part, end, signal) {
          if (seen(part).version !== part.version) throw changing(part);
          return read(part, signal, (sheet) => shownBehind(place, sheet, end));
        },
      },
    }),
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

function changing({ name }: Part): AgentError {
  return new AgentError('part.changing', `${name} changed while it was read`);
}

function contentOf(
  sheet: Sheet,
  { version, revisedAtMs, place }: { readonly version: string; readonly revisedAtMs: number; readonly place: Place },
): Content {
  const { hash, endsWithLineEnd } = sheet;
  const end = endOf(place, sheet);
  return { hash, version, revisedAtMs, ...(place.kind.isText ? { endsWithLineEnd } : {}), ...(end && { end }) };
}

function batchOf(part: string, { columns, rows }: Pick<Sheet, 'columns' | 'rows'>, mapping: Mapping): Batch {
  const coder = new RowCoder((names) => columnNeeds(mapping, names));
  return coder.batch({ columns, rows: rows.map(({ fields }) => fields), shared: sharedTexts(part) });
}
