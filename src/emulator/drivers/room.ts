/** Area B: drivers are pushed, and people and tests see what the service holds. */
import type { Database } from 'better-sqlite3';
import type { Driver } from '../../contract/driver-push.ts';
import { updatePath } from '../../contract/driver-push.ts';
import { refuse, streamJson, summaryOf } from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { DriverStore } from './store.ts';
import { writeTree } from './tree.ts';
import { UpdateReader } from './update-reader.ts';

/** What the rest of the emulator sees of an area. */
export interface DriverRoom {
  serve(app: App): void;
  /** By the UTF-8 bytes of their ids, points by month, `time` and `value` as sent. */
  drivers(): Driver[];
  clear(): void;
}

export function openDriverRoom(database: Database): DriverRoom {
  const store = new DriverStore(database);
  return {
    serve(app) {
      route(app, updatePath, { POST: (context) => update(store, context.get('exchange')) });
      route(app, '/_emulator/drivers', { GET: () => streamJson(writeDrivers(store.all())) });
      route(app, '/_emulator/tree', { GET: () => streamJson(writeTree(store.all())) });
    },
    drivers: () => [...store.all()],
    clear: () => store.clear(),
  };
}

async function update(store: DriverStore, exchange: Exchange): Promise<Response> {
  const stage = store.stage();
  try {
    const reader = new UpdateReader();
    const refusal = await exchange.receive((chunk) => stage.add(reader.push(chunk)));
    const issues = reader.end();
    exchange.record.counts = { ...reader.counts };
    return await exchange.settle(() => {
      if (refusal !== undefined) return refusal;
      if (issues.length > 0) return refuse(400, summaryOf(issues), { issues });
      store.apply(stage, reader.shouldDeleteMissing === true ? 'replace' : 'merge');
      exchange.record.applied = true;
      return new Response(null, { status: 200, headers: { 'content-length': '0' } });
    });
  } finally {
    stage.drop();
  }
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
