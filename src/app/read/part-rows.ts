/** The rows of one part on their way into a sink, with what is counted and rejected; and what a part may reject. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import { describeLimit, isBeyond, rejectLimit } from '../../core/guard/guard.ts';
import type { ReadingSink } from '../../core/mapping/reading.ts';
import { type RowMapper, rowShown, rowText } from '../../core/mapping/row-mapper.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { Content, Part, Reject } from '../../core/model.ts';
import type { Clock, Lookups, RowCounts, Source } from '../../core/ports.ts';
import type { Limit, Mapping } from '../../core/settings.ts';

/** A file that changed while it was read is tried again for this long; its source waits for it to be quiet besides. */
const changingMaxMs = 30_000;

export interface RowTaker {
  /**
   * Is given the columns of the part by its first batch; `undefined` ends the read before its first row. Whoever reads the rows disposes of
   * the mapper.
   */
  mapper(first: Batch): RowMapper | undefined;
  readonly sink: ReadingSink;
  /** Where rejects are kept; the others are only counted. */
  readonly rejects: Reject[];
  readonly rejectsMax: number;
  /** Counted up with each batch. */
  readonly counts: { -readonly [key in keyof RowCounts]: number };
  /** Called after each batch; `enough` ends the read. */
  taken(batch: Batch): 'more' | 'enough' | Promise<'more' | 'enough'>;
}

/**
 * Hands the rows of a part to its taker. The content is `undefined` where the taker ended the read.
 * @throws AgentError as `Source.rows`, and what the taker throws
 */
export async function readRows(
  source: Source,
  part: Part,
  taker: RowTaker,
  signal: AbortSignal,
): Promise<Content | undefined> {
  return await takeRows(source.rows(part, signal), taker, signal);
}

/** The same for rows that are on their way. */
export async function takeRows<End extends Content | undefined>(
  rows: AsyncGenerator<Batch, End, void>,
  taker: RowTaker,
  signal: AbortSignal,
): Promise<End | undefined> {
  let mapper: RowMapper | undefined;
  try {
    for (;;) {
      const next = await rows.next();
      signal.throwIfAborted();
      if (next.done === true) return next.value;
      // Records without a header name their columns themselves: where there are no records, nothing is missing.
      if (next.value.columns.length === 0 && next.value.count === 0) continue;
      mapper ??= taker.mapper(next.value);
      if (mapper !== undefined) {
        takeBatch(mapper, next.value, taker);
        if ((await taker.taken(next.value)) === 'more') continue;
      }
      await rows.return(undefined as never);
      return undefined;
    }
  } finally {
    mapper?.[Symbol.dispose]();
    // Not awaited: a read that hangs in the kernel would hang this too.
    void rows.return(undefined as never).catch(() => undefined);
  }
}

function takeBatch(mapper: RowMapper, batch: Batch, { sink, rejects, rejectsMax, counts }: RowTaker): void {
  const rowsBefore = counts.rows;
  counts.passed += mapper.read(batch, rowsBefore, sink, {
    reject(at, reason) {
      counts.rejects += batch.collapsed?.[at]?.rows ?? 1;
      if (rejects.length >= rejectsMax) return;
      rejects.push({ row: rowShown(batch, at, rowsBefore + at + 1), reason, text: rowText(batch.row(at)) });
    },
  });
  counts.rows += batch.count;
}

/** Why a part with these rejects is not accepted. `whole`: all its rows were read. */
export function tooManyRejects(
  { passed, rejects }: RowCounts,
  rules: { readonly mapping: Mapping; readonly maxRejects: Limit | undefined; readonly whole: boolean },
): string | undefined {
  const limit = rejectLimit(rules.mapping, rules.maxRejects);
  if (rejects === 0 || !isBeyond(rejects, passed, limit)) return undefined;
  const rows = rules.whole ? `${passed} rows` : `the first ${passed} rows`;
  return `${rejects} of ${rows} could not be read, more than guard.maxRejects ${describeLimit(limit)}`;
}

/** Reads a part, again where it changed meanwhile; its present state is asked for each time. `timeoutMs`: of all that is read. */
export async function readUnchanged<T>(
  clock: Clock,
  {
    source,
    part,
    timeoutMs,
    signal,
  }: { readonly source: Source; readonly part: Part; readonly timeoutMs: number; readonly signal: AbortSignal },
  read: (part: Part) => Promise<T>,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  // Or a source with a short timeout would be called slow.
  const patienceMs = Math.min(changingMaxMs, timeoutMs / 2);
  for (let next = part; ;) {
    try {
      return await read(next);
    } catch (error) {
      const elapsedMs = clock.monotonicMs() - startedMs;
      if (!isAgentError(error, 'part.changing') || elapsedMs >= patienceMs) throw error;
      await clock.sleep(500, signal);
      const listed = await source.parts(signal);
      const again = listed.find(({ name }) => name === part.name);
      if (again === undefined) throw error;
      next = again;
    }
  }
}

/** A mapping with the maps that stand in files. */
export function withLookups(mapping: Mapping, { maps }: Lookups): Mapping {
  return { ...mapping, maps: { ...mapping.maps, ...maps } };
}

/** Adds the source and part to failures that came from core, which does not know them. */
export function nameWhere(error: unknown, source: string, part: string): unknown {
  if (!isAgentError(error) || error.message.includes(part)) return error;
  return new AgentError(error.code, `${part} of source "${source}": ${error.message}`, {
    cause: error,
    hint: error.hint,
  });
}
