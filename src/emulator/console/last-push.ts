/** What the last push changed: what was held when it came against what is held now. */
import type { Driver, Point } from '../../contract/driver-push.ts';
import { updatePath } from '../../contract/driver-push.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestLog, RequestRecord } from '../request-log.ts';
import type { App } from '../routes.ts';

/** Where a push was larger nothing is compared: what is held would have to be read at every push. */
const pointsMax = 50_000;

export type Change = 'added' | 'changed' | 'removed';

export interface PointChange {
  readonly change: Change;
  /** The value before, as it was sent; undefined where there was none. */
  readonly before: string | undefined;
}

export interface LastPush {
  readonly record: RequestRecord;
  /** What was held before; or why that is not known. */
  readonly before: ReadonlyMap<string, Driver> | string;
}

export class PushWatch {
  readonly #drivers: () => Driver[];
  readonly #log: RequestLog;
  #underWay = 0;
  #last: { readonly id: number; readonly before: LastPush['before'] } | undefined;

  constructor(drivers: () => Driver[], log: RequestLog) {
    this.#drivers = drivers;
    this.#log = log;
  }

  watch(app: App): void {
    app.on('POST', updatePath, async (context, next) => {
      const before = this.#underWay === 0 ? this.#read() : 'it came while another one was under way';
      this.#underWay += 1;
      try {
        await next();
      } finally {
        this.#underWay -= 1;
        // Where recording the request failed there is none.
        const exchange = context.get('exchange') as Exchange | undefined;
        if (exchange?.record.applied) this.#last = { id: exchange.record.id, before };
      }
    });
  }

  /** The newest push that was applied and is still in the log of requests. */
  last(): LastPush | undefined {
    const record = this.#log.all().find(isApplied);
    if (record === undefined) return undefined;
    const isWatched = this.#last?.id === record.id;
    return { record, before: isWatched ? (this.#last?.before ?? '') : 'it came before the emulator was started again' };
  }

  #read(): LastPush['before'] {
    const isLarge = this.#log.all().some((record) => isApplied(record) && (record.counts?.points ?? 0) > pointsMax);
    if (isLarge) return `a push of more than ${pointsMax} points is not compared`;
    return new Map(this.#drivers().map((driver) => [driver.id, driver]));
  }
}

function isApplied({ applied, counts }: RequestRecord): boolean {
  return applied && counts !== null;
}

/** Ids by what became of their drivers, in the order of ids. */
export function changedDrivers(
  before: ReadonlyMap<string, Driver>,
  now: readonly Driver[],
): Readonly<Record<Change, string[]>> {
  const left = new Map(before);
  const changes = { added: [] as string[], changed: [] as string[], removed: [] as string[] };
  for (const driver of now) {
    const earlier = left.get(driver.id);
    left.delete(driver.id);
    if (earlier === undefined) changes.added.push(driver.id);
    else if (JSON.stringify(earlier) !== JSON.stringify(driver)) changes.changed.push(driver.id);
  }
  changes.removed.push(...left.keys());
  return changes;
}

/** By `time`, as it is sent: what became of the points of one driver. */
export function changedPoints(before: readonly Point[], now: readonly Point[]): ReadonlyMap<string, PointChange> {
  const changes = new Map<string, PointChange>();
  const left = new Map(before.map(({ time, value }) => [time, value]));
  for (const { time, value } of now) {
    const earlier = left.get(time);
    left.delete(time);
    if (earlier === undefined) changes.set(time, { change: 'added', before: undefined });
    else if (earlier !== value) changes.set(time, { change: 'changed', before: earlier });
  }
  for (const [time, value] of left) changes.set(time, { change: 'removed', before: value });
  return changes;
}
