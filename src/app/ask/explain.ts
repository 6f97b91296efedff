/** Where the numbers of a driver came from. Every source may be unplugged. */
import { AgentError } from '../../core/errors.ts';
import { rowOf } from '../../core/row-origin.ts';
import { valuesByMonth } from '../../core/series/diff.ts';
import { type Cell, type FoldedDriver, type PackedDriver, unpackDriver } from '../../core/series/packing.ts';
import { formatMonth, parseMonth } from '../../core/time/month.ts';
import { utcOffsetSeconds } from '../../core/time/zone.ts';
import type { ReadPart } from '../../core/buffer.ts';
import type { Dependencies } from '../dependencies.ts';
import { firstShown } from '../read/carried.ts';
import { lookFor } from '../push/retention.ts';

export interface Explanation {
  readonly driver: string;
  readonly path: readonly string[];
  readonly source: string;
  readonly rule: string;
  readonly otherPath?: readonly string[] | undefined;
  /** Why nobody knows which values were pushed: no point has its `firstPush` then. */
  readonly pushesUnknown?: string;
  readonly points: readonly ExplainedPoint[];
}

export interface ExplainedPoint {
  readonly month: string;
  readonly value: string;
  readonly source: string;
  readonly part: string;
  /** Counted from 1, the header not among them; `null` where the database collapsed the rows. */
  readonly row: number | null;
  /** Then: the key, the time and the count of what it collapsed. */
  readonly collapsed?: string;
  /** As read. */
  readonly text: string;
  /** How many other readings of that month this point stands for. */
  readonly superseded: number;
  /** No export shows it any more: its part is gone, or its month is older than all that is shown. */
  readonly carried?: CarriedFrom;
  /** The push since which the service has had this value without a break; absent where it was not acknowledged yet, or nobody knows. */
  readonly firstPush?: number;
}

export interface CarriedFrom {
  readonly from: 'part' | 'history';
  /** The rule by which it was read, where that is known: the settings may have changed since. */
  readonly rule?: string;
}

/**
 * @param driver its id, or its path with `/` between the elements
 * @throws AgentError `usage` for a driver or month that is not there
 */
export async function explain(deps: Dependencies, driver: string, month?: string): Promise<Explanation> {
  const { buffer, ledger, address } = deps;
  const wanted = month === undefined ? undefined : parseMonth(month);
  if (month !== undefined && wanted === undefined) {
    throw new AgentError('usage', `"${month}" is no month`, { hint: 'write it as 2026-03' });
  }
  const { source, packed } = await findDriver(deps, driver);
  const { id, path, rule, otherPath, cells } = unpackDriver(packed);
  const shown = cells.filter((cell) => wanted === undefined || cell.month === wanted);
  if (shown.length === 0) {
    const [first, last] = [cells[0], cells.at(-1)];
    const hint = `it has points in ${cells.length} months, from ${formatMonth(first?.month ?? 0)} to ${formatMonth(last?.month ?? 0)}`;
    throw new AgentError('usage', `driver "${id}" has no point in ${month}`, { hint });
  }
  const last = await ledger.pushes.lastAcknowledged(address);
  const looked = last && (await lookFor(deps, last.digest, id));
  const pushed = looked?.driver && valuesByMonth(looked.driver.points);
  const pushesUnknown =
    last !== undefined && looked === undefined
      ? `which push carried these values first cannot be known: the snapshot of push ${last.id}, the last one that was acknowledged, is not kept or damaged`
      : undefined;
  const points: ExplainedPoint[] = [];
  const carriedFrom = carriedCells(deps, source, id);
  for (const cell of shown) {
    const origin = buffer.parts.origin(cell.part);
    const carried = carriedFrom(cell);
    const row = rowOf(cell.row);
    const firstPush =
      pushed?.get(cell.month) === cell.value ? await ledger.pushes.firstOf(address, id, cell.month) : undefined;
    points.push({
      month: formatMonth(cell.month),
      value: cell.value,
      source: origin.source,
      part: origin.name,
      row,
      ...(row === null ? { collapsed: describeCollapsed(deps, id, cell) } : {}),
      text: cell.text,
      superseded: cell.count - 1,
      ...(carried === undefined ? {} : { carried }),
      ...(firstPush === undefined ? {} : { firstPush }),
    });
  }
  return {
    driver: id,
    path,
    source,
    rule: ruleNow(deps, source, { id, rule }),
    otherPath,
    ...(pushesUnknown === undefined ? {} : { pushesUnknown }),
    points,
  };
}

/** The rule of what is there. A part that is gone may have been read by another one, and have the latest reading. */
function ruleNow(
  { buffer, settings }: Dependencies,
  source: string,
  { id: driver, rule }: Pick<FoldedDriver, 'id' | 'rule'>,
): string {
  const entries = settings.sources.find(({ name }) => name === source)?.mapping.drivers ?? [];
  const parts = buffer.reads.parts(source, 'accepted') ?? [];
  if (entries.every((entry) => entry.rule === rule) || !parts.some(({ carried }) => carried)) return rule;
  for (const part of parts.filter(({ kind, carried }) => kind === 'part' && !carried)) {
    const found = ruleIn({ buffer }, part, driver);
    if (found !== undefined) return found;
  }
  return rule;
}

/** The rule by which a part has a driver; `undefined` where it has not. */
function ruleIn({ buffer }: Pick<Dependencies, 'buffer'>, part: ReadPart, driver: string): string | undefined {
  for (const { id, rule } of buffer.parts.drivers(part)) if (id === driver) return rule;
  return undefined;
}

/** Which cells of a driver an accepted read carries. History lies before all that its parts have. */
function carriedCells(
  { buffer, settings }: Dependencies,
  source: string,
  driver: string,
): (cell: Pick<Cell, 'month' | 'part'>) => CarriedFrom | undefined {
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const parts = accepted.filter(({ kind }) => kind !== 'history');
  const isHistoric = parts.length < accepted.length;
  const { mayBeEmpty = false } = settings.sources.find(({ name }) => name === source) ?? {};
  const earliest = isHistoric ? (firstShown({ buffer }, { mayBeEmpty }, parts) ?? Infinity) : -Infinity;
  const rules = new Map<string, string | undefined>();
  const ruleOf = (part: ReadPart): string | undefined => {
    if (!rules.has(part.name)) rules.set(part.name, ruleIn({ buffer }, part, driver));
    return rules.get(part.name);
  };
  return ({ month, part: number }) => {
    if (month < earliest) return { from: 'history' };
    const { name } = buffer.parts.origin(number);
    const part = parts.find((one) => one.carried && one.name === name);
    if (part === undefined) return undefined;
    const rule = ruleOf(part);
    return { from: 'part', ...(rule === undefined ? {} : { rule }) };
  };
}

interface FoundDriver {
  readonly source: string;
  readonly packed: PackedDriver;
}

/** Looks the driver up by its id; where no id fits, walks all drivers for the path. */
async function findDriver(deps: Dependencies, wanted: string): Promise<FoundDriver> {
  const { buffer } = deps;
  const sources = buffer.reads.acceptedSources();
  for (const source of sources) {
    const packed = buffer.reads.driver(source, wanted);
    if (packed !== undefined) return { source, packed };
  }
  const ofPath: { readonly source: string; readonly id: string }[] = [];
  const near: string[] = [];
  let hasDrivers = false;
  const path = plainPath(wanted.split('/'));
  for (const source of sources) {
    for (const packed of buffer.reads.drivers(source, 'accepted')) {
      hasDrivers = true;
      const elements = JSON.parse(packed.path) as string[];
      if (plainPath(elements.flatMap((element) => element.split('/'))) === path) ofPath.push({ source, id: packed.id });
      else if (plainPath(packed.id.split('/')) === path) near.unshift(packed.id);
      else if (near.length < 5 && isNear(packed.id, elements, wanted)) near.push(packed.id);
    }
  }
  const [found] = ofPath;
  if (found !== undefined && ofPath.length === 1) {
    const { source, id } = found;
    const packed = buffer.reads.driver(source, id);
    if (packed !== undefined) return { source, packed };
  }
  if (found !== undefined) {
    const ids = ofPath.slice(0, 5).map(({ id }) => id);
    throw new AgentError('usage', `${ofPath.length} drivers have the path "${wanted}"`, {
      hint: `name one by its id: ${ids.join(', ')}`,
    });
  }
  const hint =
    near.length > 0
      ? `there are ${near.slice(0, 5).join(', ')}`
      : hasDrivers
        ? 'write its id, or its path as "Sales / Revenue"'
        : `${await whyNone(deps)}: see "driver-sync status"`;
  throw new AgentError('usage', `there is no driver "${wanted}"`, { hint });
}

/** A source that left takes its read along, and a buffer that is new has none: what was pushed shows that there were reads. */
async function whyNone({ buffer, ledger, address }: Dependencies): Promise<string> {
  const wereReads = buffer.reads.revision() > 0 || (await ledger.pushes.last(address)) !== undefined;
  return wereReads ? 'no accepted read has any driver' : 'no read of any source was accepted yet';
}

function plainPath(elements: readonly string[]): string {
  return elements.map((element) => element.trim()).join('/');
}

/** A driver that has the text in its name, or the same name but for one element. */
function isNear(id: string, path: readonly string[], wanted: string): boolean {
  const text = wanted.toLowerCase();
  const elements = plainPath(text.split('/')).split('/');
  return [id, path.join(' / ')].some((name) => {
    const own = plainPath(name.toLowerCase().split('/')).split('/');
    const other = own.filter((element, index) => element !== elements[index]).length;
    return name.toLowerCase().includes(text) || (own.length === elements.length && own.length > 1 && other === 1);
  });
}

/** The reading that counts. */
function describeCollapsed({ settings }: Dependencies, id: string, { seconds, count }: Cell): string {
  const time = describeTime(seconds, settings.timezone);
  return `collapsed in the database: key ${id}, time ${time}, ${count} ${count === 1 ? 'reading' : 'readings'}`;
}

/** A moment in UTC; a date's midnight as that date. */
export function describeTime(seconds: number, timezone: string): string {
  const wall = new Date((seconds + utcOffsetSeconds(timezone, seconds)) * 1000).toISOString();
  return wall.endsWith('T00:00:00.000Z') ? wall.slice(0, 10) : new Date(seconds * 1000).toISOString();
}
