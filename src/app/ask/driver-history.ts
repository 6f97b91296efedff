/** Where the numbers of a driver came from, and what it was in acknowledged snapshots: a restatement is seen. */
import type { PackedPoints } from '../../core/series/packing.ts';
import { valuesByMonth } from '../../core/series/diff.ts';
import type { PushRecord } from '../../core/ledger.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { driverIn } from '../push/retention.ts';
import { type Explanation, explain } from './explain.ts';
import { Pace } from './pace.ts';

export interface DriverHistory extends Explanation {
  /** Newest first, without those that are as it is now; each is what a push made of it, as far as its snapshot is kept. */
  readonly past: readonly PastSeries[];
}

export interface PastSeries {
  /** The last push that had these points. */
  readonly push: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly points: readonly { readonly month: string; readonly value: string }[];
}

/** Lines beyond it could not be told apart. */
const pastMax = 24;

/** @throws AgentError `usage` for a driver that is not there */
export async function driverHistory(deps: Dependencies, id: string): Promise<DriverHistory> {
  const found = await explain(deps, id);
  const now = seriesText(found.points);
  const past: PastSeries[] = [];
  const seen = new Set([now]);
  const pace = new Pace();
  for (const pushes of await periods(deps, found.driver)) {
    if (past.length === pastMax) break;
    const series = await lastKept(deps, pushes, found.driver);
    if (series === undefined || seen.has(seriesText(series.points))) continue;
    seen.add(seriesText(series.points));
    past.push(series);
    if (pace.isDue()) await pace.turn();
  }
  return { ...found, past };
}

/** Acknowledged pushes in runs within which nothing of the driver was created or updated, both newest first. */
async function periods({ ledger, address }: Dependencies, id: string): Promise<readonly (readonly PushRecord[])[]> {
  const changed = new Set(await ledger.pushes.changing(address, id));
  const runs: PushRecord[][] = [[]];
  for (const push of await ledger.pushes.all()) {
    if (push.outcome !== 'acknowledged' || push.address !== address) continue;
    runs.at(-1)?.push(push);
    if (changed.has(push.id)) runs.push([]);
  }
  return runs;
}

/** What the newest push of a run had whose snapshot is kept. */
async function lastKept(
  deps: Dependencies,
  pushes: readonly PushRecord[],
  id: string,
): Promise<PastSeries | undefined> {
  for (const { id: push, digest, endedAtMs, atMs } of pushes) {
    if ((await deps.archive.storedBytes(digest)) === 0) continue;
    const driver = await driverIn(deps, digest, id);
    if (driver === undefined) return undefined;
    return { push, at: new Date(endedAtMs ?? atMs).toISOString(), points: pointsOf(driver) };
  }
  return undefined;
}

function pointsOf({ points }: PackedPoints): PastSeries['points'] {
  return Array.from(valuesByMonth(points), ([month, value]) => ({ month: formatMonth(month), value }));
}

function seriesText(points: PastSeries['points']): string {
  return points.map(({ month, value }) => `${month} ${value}`).join('\n');
}
