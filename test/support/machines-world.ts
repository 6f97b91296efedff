/** Agents on several machines: a process and a directory each, one ledger in PostgreSQL, and one receiver. */
import { expect, onTestFailed } from 'vitest';
import { type Place, type Running, csv, place } from './process.ts';
import { type Receiver, openReceiver } from './receiver.ts';
import { type TestServer, postgresServer } from './servers.ts';

export interface Machines extends AsyncDisposable {
  readonly server: TestServer;
  readonly service: Receiver;
  readonly places: readonly Place[];
  /** What all of them have. */
  readonly config: object;
}

const months = ['2026-01', '2026-02', '2026-03'];

export function rowsOf(values: Readonly<Record<string, string>>): string {
  const rows = Object.entries(values).flatMap(([id, value]) => months.map((month) => `${id},${month},${value}`));
  return ['id,time,value', ...rows, ''].join('\n');
}

export interface MachinesOptions {
  readonly takeOver?: string;
  /** Of the destination. */
  readonly timeout?: string;
  readonly count?: number;
  readonly more?: object;
  /** More variables of each agent. */
  readonly env?: (at: number) => NodeJS.ProcessEnv;
  /** Default: a server of their own. */
  readonly server?: TestServer;
  /** Of the ledger. Default: the administrator's. */
  readonly url?: string;
}

export async function machines(options: MachinesOptions = {}): Promise<Machines> {
  const { count = 3, more = {}, takeOver = '3s', timeout = '1s' } = options;
  const server = options.server ?? (await postgresServer());
  const service = await openReceiver();
  const config = {
    destination: { url: service.url, timeout },
    pushOnChange: '1s',
    ledger: { url: '${LEDGER_URL}', takeOver },
    sources: { sales: { ...csv('sales.csv'), settle: '0s', poll: '1s' } },
    ...more,
  };
  const files = { 'sales.csv': rowsOf({ north: '1.50', south: '2' }) };
  const env = { LEDGER_URL: options.url ?? server.url() };
  const places = await Promise.all(
    Array.from({ length: count }, (_, at) => place(config, files, { ...env, ...options.env?.(at) })),
  );
  // A test that waits in vain at the receiver knows nothing of what its agents said.
  onTestFailed(() => {
    for (const [at, one] of places.entries()) process.stderr.write(`agent ${at + 1}:\n${one.said()}\n`);
  });
  return {
    server,
    service,
    places,
    config,
    async [Symbol.asyncDispose]() {
      await Promise.all(places.map((one) => one[Symbol.asyncDispose]()));
      await service[Symbol.asyncDispose]();
      if (options.server === undefined) await server[Symbol.asyncDispose]();
    },
  };
}

/** What `status` says of an agent, wherever it is asked. */
export async function wordsOf(at: Place, { pid }: Pick<Running, 'pid'>): Promise<string | undefined> {
  const { shared } = (await at.command('status', '--json')).json<{
    readonly shared: { readonly agents: readonly { readonly pid: number; readonly text: string }[] };
  }>();
  return shared.agents.find((one) => one.pid === pid)?.text;
}

/** The first one leads and has pushed, the second one follows and would push the same. */
export async function bothRun(
  world: Machines,
): Promise<{ readonly one: Place; readonly two: Place; readonly first: Running; readonly second: Running }> {
  const [one, two] = world.places as [Place, Place];
  const first = await one.daemon();
  await world.service.post(1);
  const second = await two.daemon();
  await expect.poll(() => wordsOf(two, second)).toBe('would push the same');
  return { one, two, first, second };
}
