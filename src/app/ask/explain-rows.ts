/** The readings behind one point: its parts are read again, and the buffer is left as it is. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { MonthRules } from '../../core/mapping/entry-reader.ts';
import { rowOf } from '../../core/row-origin.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import { eachReading } from '../../core/mapping/reading.ts';
import type { Month, Part } from '../../core/model.ts';
import type { Source } from '../../core/ports.ts';
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import { parseMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { nameWhere, readRows, readUnchanged, withLookups } from '../read/part-rows.ts';
import { withTimeout } from '../read/timeout.ts';
import { type ExplainedPoint, type Explanation, describeTime } from './explain.ts';

/** One reading of the driver in the month, as its part gives it now. */
export interface ReadingBehind {
  readonly part: string;
  /** Counted from 1, the header not among them; `null` where nobody knows it. */
  readonly row: number | null;
  /** The line of the file that the row begins in, in text. */
  readonly line?: number;
  /** In a workbook, the row of the sheet. */
  readonly sheetRow?: number;
  readonly time: string;
  readonly value: string;
  /** As read. */
  readonly text: string;
}

/** A part that the point was made from. */
export interface PartBehind {
  readonly part: string;
  /** `unknown`: it was read, and what it was when it was accepted is not kept. */
  readonly state: 'unchanged' | 'changed' | 'unknown' | 'gone' | 'unreadable';
  readonly reason?: string;
  /** How many readings of the point were accepted from it; `null` where it is only known how many all parts gave. */
  readonly accepted: number | null;
  /** How many it gives now. */
  readonly found: number;
}

export interface ExplainedRows extends Explanation {
  readonly points: readonly (ExplainedPoint & {
    readonly parts: readonly PartBehind[];
    readonly readings: readonly ReadingBehind[];
  })[];
}

interface Wanted {
  readonly driver: string;
  readonly month: Month;
}

/** @param found what `explain` says of one month */
export async function explainRows(deps: Dependencies, found: Explanation, signal: AbortSignal): Promise<ExplainedRows> {
  const settings = deps.settings.sources.find(({ name }) => name === found.source);
  const [point] = found.points;
  const month = parseMonth(point?.month ?? '');
  if (settings === undefined || point === undefined || month === undefined) {
    throw new AgentError('usage', `source "${found.source}" is not in the config: its rows cannot be read again`, {
      hint: 'leave --rows out: what was accepted is kept',
    });
  }
  const wanted = { driver: found.driver, month };
  const source = deps.openSource(withoutPushdown(settings));
  const behind = partsBehind(deps, source, { ...wanted, of: found.source });
  const limits = { ms: settings.timeoutMs, what: `reading source "${settings.name}"` };
  const readings: ReadingBehind[] = [];
  const parts = await withTimeout(deps.clock, limits, signal, (inner) =>
    readAgain(deps, settings, { source, wanted, behind, readings, signal: inner }),
  );
  return { ...found, points: [{ ...point, parts, readings }] };
}

interface Behind {
  readonly accepted: number | null;
  /** The hash of the accepted content, where it is known. */
  readonly hash: string | undefined;
}

/**
 * The parts that have readings of the point, by name. What a snapshot or carried months have of several readings names one part of them
 * alone: the others may be in any part of the source.
 */
function partsBehind(
  { buffer }: Dependencies,
  { nowCalled }: Source,
  wanted: Wanted & { readonly of: string },
): ReadonlyMap<string, Behind> {
  const found = new Map<string, Behind>();
  for (const part of buffer.reads.parts(wanted.of, 'accepted') ?? []) {
    const cell = cellOf(buffer.parts.drivers(part), wanted);
    if (cell === undefined) continue;
    const known = part.kind === 'part' ? part.name : buffer.parts.origin(cell.part).name;
    const name = nowCalled?.(known) ?? known;
    const before = found.get(name)?.accepted;
    const isKnown = before !== null && (part.kind === 'part' || cell.count === 1);
    const accepted = isKnown ? (before ?? 0) + cell.count : null;
    found.set(name, { accepted, hash: part.kind === 'part' ? part.hash : undefined });
  }
  return found;
}

function cellOf(drivers: ReturnType<Dependencies['buffer']['parts']['drivers']>, { driver, month }: Wanted) {
  for (const { id, cells } of drivers) if (id === driver) return cells.find((cell) => cell.month === month);
  return undefined;
}

interface Again {
  readonly source: Source;
  readonly wanted: Wanted;
  readonly behind: ReadonlyMap<string, Behind>;
  readonly readings: ReadingBehind[];
  readonly signal: AbortSignal;
}

async function readAgain(deps: Dependencies, settings: SourceSettings, again: Again): Promise<PartBehind[]> {
  const { source, behind, readings, signal } = again;
  const lookups = await deps.readLookups(settings, signal);
  const reader: Reader = {
    name: settings.name,
    timeoutMs: settings.timeoutMs,
    source,
    mapping: withLookups(settings.mapping, lookups),
    rules: { timezone: deps.settings.timezone, calendar: lookups.calendar },
  };
  const listed = await reader.source.parts(signal).catch((error: unknown) => {
    // Nothing matches any more, or the share is not mounted: every part is gone.
    if (isAgentError(error, 'source.unreadable')) return [];
    throw error;
  });
  const parts: PartBehind[] = [];
  const others = [...behind.values()].some(({ accepted }) => accepted === null)
    ? listed.filter(({ name }) => !behind.has(name)).map(({ name }) => [name, unknownBehind] as const)
    : [];
  for (const [name, { accepted, hash }] of [...behind, ...others]) {
    const part = listed.find((one) => one.name === name);
    const before = readings.length;
    // The hash of rows is not that of what a database made of them.
    const known = isCollapsed(settings) ? undefined : hash;
    const read = part === undefined ? { state: 'gone' as const } : await readPart(deps, reader, { part, known, again });
    const count = readings.length - before;
    if (count > 0 || behind.has(name)) parts.push({ part: name, ...read, accepted, found: count });
  }
  return parts;
}

const unknownBehind: Behind = { accepted: null, hash: undefined };

/** The rows themselves, where a database would collapse them. */
function withoutPushdown(settings: SourceSettings): SourceSettings {
  return isCollapsed(settings) ? { ...settings, kind: { ...(settings.kind as object), pushdown: false } } : settings;
}

function isCollapsed({ kind }: SourceSettings): boolean {
  return typeof kind === 'object' && kind !== null && 'pushdown' in kind && kind.pushdown === true;
}

interface Reader {
  readonly name: string;
  readonly timeoutMs: number;
  readonly source: Source;
  readonly mapping: Mapping;
  readonly rules: MonthRules;
}

interface PartToRead {
  readonly part: Part;
  /** The hash of what was accepted. */
  readonly known: string | undefined;
  readonly again: Again;
}

async function readPart(
  deps: Dependencies,
  { name, timeoutMs, source, mapping, rules }: Reader,
  { part, known, again: { wanted, readings, signal } }: PartToRead,
): Promise<Pick<PartBehind, 'state' | 'reason'>> {
  const before = readings.length;
  try {
    return await readUnchanged(deps.clock, { source, part, timeoutMs, signal }, async (now) => {
      readings.length = before;
      const content = await readRows(source, now, takerOf(wanted, part.name, { readings, mapping, rules }), signal);
      if (known === undefined) return { state: 'unknown' };
      return { state: content?.hash === known ? 'unchanged' : 'changed' };
    });
  } catch (error) {
    if (signal.aborted || !isAgentError(error)) throw error;
    readings.length = before;
    return { state: 'unreadable', reason: (nameWhere(error, name, part.name) as AgentError).message };
  }
}

/** Keeps the readings of one driver and month. The rows that it needs lines of are those of the batch at hand. */
function takerOf(
  { driver, month }: Wanted,
  part: string,
  { readings, mapping, rules }: { readings: ReadingBehind[]; mapping: Mapping; rules: MonthRules },
): Parameters<typeof readRows>[2] {
  const counts = { rows: 0, passed: 0, rejects: 0 };
  let firstOfBatch = readings.length;
  let rowsBefore = 0;
  return {
    counts,
    rejects: [],
    rejectsMax: 0,
    mapper: (first) => new RowMapper(mapping, first.columns, rules, first),
    sink: eachReading((given, at) => {
      const moment = given.moment(at);
      if (given.name(at).id !== driver || moment.month !== month) return;
      readings.push({
        part,
        row: rowOf(given.rows[at] as number),
        time: describeTime(moment.seconds, rules.timezone),
        value: given.value(at),
        text: given.text(at),
      });
    }),
    taken(batch: Batch) {
      for (let at = firstOfBatch; at < readings.length; at++) {
        const reading = readings[at] as ReadingBehind;
        const line = reading.row === null ? undefined : batch.line?.(reading.row - rowsBefore - 1);
        if (line === undefined) continue;
        // Only rows of a workbook are on a sheet.
        const isOfSheet = batch.shared?.['sheet'] !== undefined;
        readings[at] = { ...reading, ...(isOfSheet ? { sheetRow: line } : { line }) };
      }
      firstOfBatch = readings.length;
      rowsBefore = counts.rows;
      return 'more';
    },
  };
}
