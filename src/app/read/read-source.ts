/** Reads what changed in one source. Its candidate is put together when all sources were read. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Lookups } from '../../core/ports.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { PartRead } from '../../core/buffer.ts';
import type { Found } from './carried.ts';
import { currentParts } from './current-parts.ts';
import { renameParts } from './former-names.ts';
import { goneFilesOf } from './gone-files.ts';
import type { ProofTime } from './grown-parts.ts';
import { type QuietNeeded, QuietWait } from './part-end.ts';
import { PartReader } from './part-reader.ts';
import { type ReadBy, readByOf } from './read-by.ts';
import { withTimeout } from './timeout.ts';
import type { Dependencies } from '../dependencies.ts';

export interface WholeLook {
  readonly settings: SourceSettings;
  /** See `Source.isExpensive`. */
  readonly isExpensive: boolean;
  readonly state: 'read';
  readonly found: Found;
  /** See `Source.mayLag`. */
  readonly mayLag: boolean;
  /** Files that an accepted read was made of and this one was not, since they are not there any more. */
  readonly goneFiles: readonly string[];
  /** Made when it is asked for: a map may have many entries. */
  readonly readBy: () => ReadBy;
}

interface Unread {
  readonly settings: SourceSettings;
  readonly isExpensive: boolean;
  readonly state: 'unread';
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** What one look at a source gave. */
export type SourceLook = WholeLook | Unread;

/** The same with its candidate made. */
export type SourceRead =
  | (WholeLook & {
      /** Parts that are gone since the read before, and whose data is carried from now on. */
      readonly disappeared: readonly string[];
    })
  | Unread;

/** The source was read, or files have to be quiet for longer. */
type Attempt =
  | {
      readonly found: Found;
      readonly lookups: Lookups;
      readonly goneFiles: readonly string[];
      readonly unsure?: undefined;
    }
  | { readonly found?: undefined; readonly unsure: readonly QuietNeeded[] };

/**
 * Reads what changed in a source. One that cannot be read whole keeps its accepted data, and what was read of it meanwhile is
 * kept for the next look.
 */
export async function readSource(
  deps: Dependencies,
  settings: SourceSettings,
  signal: AbortSignal,
  proof: ProofTime = 'now',
): Promise<SourceLook> {
  const limits = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  const source = deps.openSource(settings);
  const isExpensive = source.isExpensive === true;
  renameParts(deps, settings.name, source);
  const good = new Map<string, PartRead>();
  const wait = new QuietWait(deps);
  try {
    for (;;) {
      const attempt = await withTimeout(deps.clock, limits, signal, async (inner): Promise<Attempt> => {
        const lookups = await deps.readLookups(settings, inner);
        const unsureTables = unsureLookups(deps, settings.name, { lookups, wait });
        if (unsureTables.length > 0) return { unsure: unsureTables };
        const reader = new PartReader(deps, settings, { source, lookups, good, proof });
        const { listed, parts, seen } = await currentParts(source, reader.known(), inner);
        deps.observe({ kind: 'source.listed', source: settings.name, parts: listed.length });
        if (seen !== undefined) deps.buffer.parts.setSeen(settings.name, seen);
        const present: PartRead[] = [];
        for (const part of parts) {
          const read = await reader.current(part, listed, inner);
          good.set(part.name, read);
          present.push(read);
        }
        for (const read of await reader.proveWhatDeletes({ present, parts, listed }, inner)) {
          present.splice(
            present.findIndex(({ name }) => name === read.name),
            1,
            read,
          );
          good.set(read.name, read);
        }
        const unsure = await reader.unsureEnds({ present, listed, wait }, inner);
        const goneFiles = await goneFilesOf(deps, settings.name, { source, present }, inner);
        // A read that was left behind must not change the candidate under a review.
        inner.throwIfAborted();
        if (unsure.length > 0) return { unsure };
        keepLineEnds(deps, settings.name, lookups);
        return { found: { present, listed, newestOnly: source.newestOnly === true }, lookups, goneFiles };
      });
      if (attempt.found !== undefined) {
        const { found, lookups, goneFiles } = attempt;
        keepUntilAssembled(deps, settings.name, found.present);
        const readBy = (): ReadBy => readByOf(settings, lookups);
        const mayLag = source.mayLag === true;
        return { settings, isExpensive, mayLag, state: 'read', found, goneFiles, readBy };
      }
      // Outside of the time that a read may take.
      await wait.until(attempt.unsure, signal);
    }
  } catch (error) {
    if (signal.aborted || !isAgentError(error) || error.code.startsWith('state.')) throw error;
    keepPartial(deps, settings.name, [...good.values()]);
    return { settings, isExpensive, state: 'unread', reason: error.message, hint: error.hint };
  }
}

/**
 * A source is not read: its candidate is withdrawn. What was last read well of each part is kept for the next pass, and tells the
 * review which drivers the source may have taken.
 */
export function keepPartial({ buffer }: Dependencies, source: string, good: readonly PartRead[]): void {
  const last = new Map<string, readonly PartRead[]>();
  for (const kind of ['partial', 'candidate'] as const) {
    for (const [name, parts] of Map.groupBy(buffer.reads.parts(source, kind) ?? [], (part) => part.name)) {
      last.set(name, parts);
    }
  }
  for (const part of good) last.set(part.name, [part]);
  // In this order: a crash in between must not lose what the candidate had.
  setPartial(buffer, source, [...last.values()].flat());
  buffer.reads.drop(source, 'candidate');
}

function setPartial(buffer: Dependencies['buffer'], source: string, parts: readonly PartRead[]): void {
  const ids = new Set(parts.map(({ id }) => id));
  const kept = [...ids].map((id) => ({ id, carried: false, settled: false }));
  buffer.reads.set(source, 'partial', kept);
}

/** Candidates are made once all sources were read; a crash until then must not lose what is new. */
function keepUntilAssembled({ buffer }: Dependencies, source: string, present: readonly PartRead[]): void {
  const kept = (['accepted', 'candidate'] as const).flatMap((kind) => buffer.reads.parts(source, kind) ?? []);
  if (present.every(({ id }) => kept.some((part) => part.id === id))) return;
  setPartial(buffer, source, [...(buffer.reads.parts(source, 'partial') ?? []), ...present]);
}

/**
 * Tables without a line end at their end whose last line may be cut, and that have to be quiet for longer: nothing is known
 * of them yet.
 * @throws AgentError `source.unreadable` where one had a line end when its source was last read whole
 */
function unsureLookups(
  { buffer }: Dependencies,
  source: string,
  { lookups, wait }: { lookups: Lookups; wait: QuietWait },
): readonly QuietNeeded[] {
  return lookups.files.flatMap(({ file, version, end }) => {
    if (end.endsWithLineEnd) return [];
    const had = buffer.parts.hadLineEnd(source, file);
    if (had === true) {
      throw new AgentError('source.unreadable', `${file}: it ends without a line end, and had one before`, {
        hint: 'was it written to its end? if it is whole, end its last line',
      });
    }
    const part = { name: file, version, revisedAtMs: 0 };
    // It was read without one before: this is how it is written.
    if (had === false || wait.isStill(part) || end.quietMs >= end.quietNeededMs) return [];
    return [{ part, quietMs: end.quietMs, neededMs: end.quietNeededMs }];
  });
}

function keepLineEnds({ buffer }: Dependencies, source: string, { files }: Lookups): void {
  for (const { file, end } of files) {
    const had = buffer.parts.hadLineEnd(source, file);
    if (had !== end.endsWithLineEnd) buffer.parts.noteLineEnd(source, file, end.endsWithLineEnd);
  }
}
