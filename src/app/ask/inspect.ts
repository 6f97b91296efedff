/** Questions about what is kept: status, history, diff, explain. Every source may be unplugged. */
import { type Changes, countChanges, diffDrivers, valuesByMonth } from '../../core/series/diff.ts';
import { AgentError } from '../../core/errors.ts';
import type { Month } from '../../core/model.ts';
import { formatMonth, parseMonth } from '../../core/time/month.ts';
import { collapsedFrom } from '../../core/mapping/entry-reader.ts';
import { type Cell, unpackDriver } from '../../core/series/packing.ts';
import type { Snapshot } from '../../core/stores.ts';
import { acknowledgedPush, keptSnapshot, openReadable } from '../push/retention.ts';
import { utcOffsetSeconds } from '../../core/time/zone.ts';
import type { Dependencies } from '../dependencies.ts';

export interface Explanation {
  readonly driver: string;
  readonly path: readonly string[];
  readonly source: string;
  readonly rule: string;
  readonly otherPath?: readonly string[] | undefined;
  readonly points: readonly ExplainedPoint[];
}

export interface ExplainedPoint {
  readonly month: string;
  readonly value: string;
  readonly source: string;
  readonly part: string;
  /** `null` where the database collapsed the rows. */
  readonly row: number | null;
  /** Then: the key, the time and the count of what it collapsed. */
  readonly collapsed?: string;
  /** As read. */
  readonly text: string;
  /** How many other readings of that month this point stands for. */
  readonly superseded: number;
  /** The first push of the present run of this value; absent where it was not acknowledged yet. */
  readonly firstPush?: number;
}

/** @throws AgentError `usage` for a driver or month that is not there */
export function explain(deps: Dependencies, id: string, month?: string): Explanation {
  const { buffer, ledger, address } = deps;
  const wanted = month === undefined ? undefined : parseMonth(month);
  if (month !== undefined && wanted === undefined) {
    throw new AgentError('usage', `"${month}" is no month`, { hint: 'write it as 2026-03' });
  }
  const source = buffer.reads.acceptedSources().find((name) => buffer.reads.driver(name, id) !== undefined);
  const packed = source === undefined ? undefined : buffer.reads.driver(source, id);
  if (source === undefined || packed === undefined) {
    throw new AgentError('usage', `there is no driver "${id}"`, { hint: nearbyHint(deps, id) });
  }
  const driver = unpackDriver(packed);
  const cells = driver.cells.filter((cell) => wanted === undefined || cell.month === wanted);
  if (cells.length === 0) {
    const [first, last] = [driver.cells[0], driver.cells.at(-1)];
    const hint = `it has points in ${driver.cells.length} months, from ${formatMonth(first?.month ?? 0)} to ${formatMonth(last?.month ?? 0)}`;
    throw new AgentError('usage', `driver "${id}" has no point in ${month}`, { hint });
  }
  const last = ledger.lastAcknowledged(address);
  const pushed = last === undefined ? undefined : pushedValues(openReadable(deps, last.digest), id);
  const points = cells.map((cell) => {
    const { name } = buffer.parts.origin(cell.part);
    const firstPush = pushed?.get(cell.month) === cell.value ? ledger.firstPush(address, id, cell.month) : undefined;
    return {
      month: formatMonth(cell.month),
      value: cell.value,
      source: buffer.parts.origin(cell.part).source,
      part: name,
      ...(cell.row >= collapsedFrom ? { row: null, collapsed: describeCollapsed(deps, id, cell) } : { row: cell.row }),
      text: cell.text,
      superseded: cell.count - 1,
      ...(firstPush === undefined ? {} : { firstPush }),
    };
  });
  return { driver: id, path: driver.path, source, rule: driver.rule, otherPath: driver.otherPath, points };
}

/** Of the reading that counts; a date's midnight is shown as that date. */
function describeCollapsed({ settings }: Dependencies, id: string, { seconds, count }: Cell): string {
  const wall = new Date((seconds + utcOffsetSeconds(settings.timezone, seconds)) * 1000).toISOString();
  const time = wall.endsWith('T00:00:00.000Z') ? wall.slice(0, 10) : new Date(seconds * 1000).toISOString();
  return `collapsed in the database: key ${id}, time ${time}, ${count} ${count === 1 ? 'reading' : 'readings'}`;
}

function pushedValues(snapshot: Snapshot | undefined, id: string): ReadonlyMap<Month, string> | undefined {
  for (const driver of snapshot?.readPoints() ?? []) if (driver.id === id) return valuesByMonth(driver.points);
  return undefined;
}

function nearbyHint(deps: Dependencies, id: string): string {
  const wanted = id.toLowerCase();
  const found: string[] = [];
  for (const source of deps.buffer.reads.acceptedSources()) {
    for (const driver of deps.buffer.reads.drivers(source, 'accepted')) {
      if (found.length < 5 && driver.id.toLowerCase().includes(wanted)) found.push(driver.id);
    }
  }
  return found.length > 0 ? `there are ${found.join(', ')}` : 'ids are written in full, as in the service';
}

export interface DriverDifference {
  readonly driver: string;
  readonly kind: 'create' | 'update' | 'delete';
  readonly path: { readonly from?: readonly string[]; readonly to?: readonly string[] };
  readonly points: readonly { readonly month: string; readonly from?: string; readonly to?: string }[];
}

export interface Difference {
  readonly from: number;
  readonly to: number;
  readonly changes: Changes;
  readonly drivers: readonly DriverDifference[];
}

/** @throws AgentError `usage` for a push that is not there, not acknowledged or not kept */
export function difference(deps: Dependencies, from: string, to: string): Difference {
  const [a, b] = [acknowledgedPush(deps, from), acknowledgedPush(deps, to)];
  const [snapshotA, snapshotB] = [keptSnapshot(deps, a), keptSnapshot(deps, b)];
  const drivers: DriverDifference[] = [];
  const changes = countChanges(
    diffDrivers(snapshotA.readPoints(), snapshotB.readPoints()),
    ({ kind, id, before, after, ...months }) => {
      const old = before === undefined ? new Map<Month, string>() : valuesByMonth(before.points);
      const now = after === undefined ? new Map<Month, string>() : valuesByMonth(after.points);
      const changed = [...months.created, ...months.updated, ...months.deleted].sort((x, y) => x - y);
      drivers.push({
        driver: id,
        kind,
        path: {
          ...(before === undefined ? {} : { from: JSON.parse(before.path) as string[] }),
          ...(after === undefined ? {} : { to: JSON.parse(after.path) as string[] }),
        },
        points: changed.map((month) => {
          const [was, is] = [old.get(month), now.get(month)];
          return {
            month: formatMonth(month),
            ...(was === undefined ? {} : { from: was }),
            ...(is === undefined ? {} : { to: is }),
          };
        }),
      });
    },
  );
  return { from: a.id, to: b.id, changes, drivers };
}
