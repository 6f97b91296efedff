/** A place with one source, a receiver and daemons that are processes. */
import { commandAt } from './command-line.ts';
import { type Place, type Running, csv, place } from './process.ts';
import { type Receiver, openReceiver } from './receiver.ts';

export interface Scene extends AsyncDisposable {
  readonly place: Place;
  readonly service: Receiver;
  readonly config: object;
}

export const one = 'id,time,value\na,2026-01,1.50\n';
export const two = 'id,time,value\na,2026-01,1.50\nb,2026-01,2\n';

/** One source, a receiver, and no reason to push or to look again by itself. */
export async function scene(keys: object = {}, source: object = {}): Promise<Scene> {
  const service = await openReceiver();
  const config = {
    destination: { url: service.url },
    schedule: '15 2 1 1 *',
    sources: { sales: csv('*.csv', { poll: '1h', ...source }) },
    ...keys,
  };
  const where = await place(config, { 'sales.csv': one });
  return {
    place: where,
    service,
    config,
    async [Symbol.asyncDispose]() {
      await where[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

export interface Status {
  readonly agent: { readonly pid: number; readonly configLoadedAt: string } | null;
  readonly lastPush?: { readonly id: number; readonly outcome: string };
  readonly lastAcknowledged?: { readonly id: number };
  readonly held: readonly { readonly digest: string }[];
}

/** The port of the status page, which the log of a daemon names. */
export function portOf({ stderr }: Running): number {
  const [, port = ''] = /"address":"http:\/\/127\.0\.0\.1:(\d+)\/"/.exec(stderr) ?? [];
  return Number(port);
}

export const statusOf = async (where: Place): Promise<Status> =>
  (await commandAt(where, 'status', '--json')).json<Status>();
