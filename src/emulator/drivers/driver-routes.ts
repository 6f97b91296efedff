/** The driver push: its endpoint, and the views of what the service holds. */
import type { Database } from 'better-sqlite3';
import type { Driver } from '../../contract/driver-push.ts';
import { updatePath } from '../../contract/update-path.ts';
import { refuse, streamJson, summaryOf } from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import type { Issue } from '../issues.ts';
import type { RequestRecord } from '../request-record.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import type { Frozen, LayerTables } from './layers.ts';
import { latestOfEachMonth, packPoints } from './points.ts';
import type { PackedDriver } from './points.ts';
import { DriverStore, driverOf } from './store.ts';
import type { DriverChanges, DriverPath } from './store.ts';
import { writeTree } from './tree.ts';
import { UpdateReader } from './update-reader.ts';

/** The drivers, for the rest of the emulator. */
export interface DriverArea {
  serve(app: App): void;
  /** Sorted by the UTF-8 bytes of their ids, points by month; `time` and `value` as sent. */
  drivers(): Driver[];
  driver(id: string): Driver | undefined;
  driverCount(): number;
  /** How many drivers there were when this was frozen. */
  countIn(frozen: Frozen): number;
  /** All drivers without their points, sorted by the UTF-8 bytes of their ids. The same list until one of them changes. */
  driverPaths(): readonly DriverPath[];
  /** The last push that was applied since the start. */
  lastPush(): LastPush | undefined;
  clear(): void;
  /** Adds drivers, as a push would. */
  add(drivers: readonly Driver[]): void;
  /** What there is now. It takes no copy. */
  freeze(): Frozen;
  /** Goes back to what `freeze` returned, here or in another emulator on the same database. */
  restore(frozen: Frozen): void;
  /** The result takes everything since back, where the transaction around it failed. */
  hold(): () => void;
  /** Keeps the tables that somebody else uses too. */
  alsoUsedBy(uses: () => Frozen): void;
  /** Drops the tables that nobody uses any more, soon. */
  collect(): void;
  /** Gives its tables free. */
  close(): void;
}

/** The changes of a push: how many drivers were added, changed and removed, and their previous content. */
export interface LastPush extends Omit<DriverChanges, 'before'> {
  readonly record: RequestRecord;
  /** Previous content by id, limited as `DriverChanges` says; undefined for a driver that the push added. */
  readonly before: ReadonlyMap<string, Driver | undefined>;
}

/** @param from what another emulator on the same database has frozen; default: what the database has kept. */
export function openDriverArea(database: Database, tables: LayerTables, from?: Frozen): DriverArea {
  const store = new DriverStore(database, tables, from);
  let last: { readonly record: RequestRecord; readonly changes: DriverChanges } | undefined;
  const update = (exchange: Exchange): Promise<Response> =>
    applyUpdate(store, exchange, (changes) => (last = { record: exchange.record, changes }));
  return {
    serve(app) {
      route(app, updatePath, { POST: (context) => update(context.get('exchange')) });
      route(app, '/_emulator/drivers', { GET: () => streamJson(writeDrivers(store.all())) });
      route(app, '/_emulator/tree', { GET: () => streamJson(writeTree(store.all())) });
    },
    drivers: () => [...store.all()],
    driver: (id) => store.get(id),
    driverCount: () => store.count(),
    countIn: (frozen) => store.countIn(frozen),
    driverPaths: () => store.paths(),
    lastPush() {
      if (last === undefined) return undefined;
      const { record, changes } = last;
      const before = [...changes.before].map(([id, row]) => [id, row && driverOf(row)] as const);
      return { ...changes, record, before: new Map(before) };
    },
    clear() {
      store.clear();
      last = undefined;
    },
    add(drivers) {
      const stage = store.stage();
      try {
        stage.add(drivers.map(packDriver));
        store.apply(stage, 'merge');
      } finally {
        stage.drop();
      }
    },
    freeze: () => store.freeze(),
    restore(frozen) {
      store.restore(frozen);
      last = undefined;
    },
    hold() {
      const takeBack = store.hold();
      const lastHeld = last;
      return () => {
        takeBack();
        last = lastHeld;
      };
    },
    alsoUsedBy: (uses) => void tables.use(uses),
    collect: () => tables.collect(),
    close: () => store.close(),
  };
}

function packDriver({ id, path, timeSeries }: Driver): PackedDriver {
  return { id, path, points: packPoints(latestOfEachMonth(timeSeries)) };
}

async function applyUpdate(
  store: DriverStore,
  exchange: Exchange,
  applied: (changes: DriverChanges) => void,
): Promise<Response> {
  const stage = store.stage();
  try {
    const reader = new UpdateReader();
    const refusal = await exchange.receive((chunk) => stage.add(reader.push(chunk)), {
      unreadable: (message) => refuseFor([{ path: '', message }]),
    });
    const issues = reader.end();
    exchange.record.counts = { ...reader.counts };
    exchange.record.warnings = reader.warnings;
    return await exchange.settle(() => {
      if (refusal !== undefined) return refusal;
      if (issues.length > 0) return refuseFor(issues);
      applied(store.apply(stage, reader.shouldDeleteMissing === true ? 'replace' : 'merge'));
      exchange.record.applied = true;
      return new Response(null, { status: 200, headers: { 'content-length': '0' } });
    });
  } finally {
    stage.drop();
  }
}

function refuseFor(issues: readonly Issue[]): Response {
  return refuse(400, summaryOf(issues), { issues });
}

function* writeDrivers(drivers: Iterable<Driver>): Generator<string, void, void> {
  yield '{"drivers":[';
  let separator = '';
  for (const { id, path, timeSeries } of drivers) {
    yield separator + JSON.stringify({ id, path, timeSeries });
    separator = ',';
  }
  yield ']}';
}
