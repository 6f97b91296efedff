/** The status page: what it takes of a daemon that waits, and how soon it answers while a pass is at work. */
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { agentArgs, csvKeys, directory, sampleConfig, wideFile, wideMapping, writeConfig } from './agent.ts';
import { NotMeasured, type Place, type Sizes, type Table } from './measurement.ts';
import { type Result, readProcess, startHelper } from './measure.ts';

const askedPaths = ['/', '/metrics', '/api/status', '/readyz'];
const pauseMs = 20;

export async function statusPage(place: Place, sizes: Sizes): Promise<readonly Table[]> {
  if (process.platform !== 'linux')
    throw new NotMeasured('what a process takes is read from /proc, which only Linux has');
  return [await idleTable(place, sizes), await busyTable(place, sizes)];
}

async function idleTable(place: Place, sizes: Sizes): Promise<Table> {
  const without = await idleMb(place, sizes, undefined);
  const unasked = await idleMb(place, sizes, []);
  const asked = await idleMb(place, sizes, repeated(askedPaths, 25));
  const alive = await idleMb(place, sizes, repeated(['/livez'], 100));
  const scraped = await idleMb(place, sizes, repeated(['/metrics'], 100));
  const result = (name: string, peakMb: number): Result => ({
    name,
    seconds: sizes.idleSeconds,
    cpuSeconds: NaN,
    peakMb,
  });
  const figure = { unit: 'MB', better: 'less' } as const;
  return {
    title: 'A daemon that waits, without and with the status page; MB resident',
    results: [
      result('without the page', without),
      result('with the page', unasked),
      result('after 100 requests', asked),
      result('after 100 requests for /livez', alive),
      result('after 100 requests for /metrics', scraped),
    ],
    figures: [
      { name: 'status page: idle above a daemon without it', value: unasked - without, must: 8, ...figure },
      { name: 'status page: after requests, above a daemon without it', value: asked - without, ...figure },
      { name: 'metrics: after 100 requests, above as many for /livez', value: scraped - alive, must: 2, ...figure },
    ],
  };
}

function repeated(paths: readonly string[], times: number): readonly string[] {
  return Array.from({ length: times }, () => paths).flat();
}

/** @param asked what the page is asked for, one after the other; `undefined`: there is no page */
async function idleMb(place: Place, sizes: Sizes, asked: readonly string[] | undefined): Promise<number> {
  const config = sampleConfig(place);
  const port = await freePort();
  if (asked !== undefined) appendFileSync(config, `\nstatus: 127.0.0.1:${port}\n`);
  place.receiver.skip();
  await using daemon = startHelper(agentArgs(place, 'run', config));
  await place.receiver.line();
  for (const address of asked ?? []) await ask(port, address);
  await wait(2000 + sizes.idleSeconds * 1000);
  return readProcess(daemon.process.pid).residentMb;
}

async function busyTable(place: Place, { wideDrivers, months }: Sizes): Promise<Table> {
  const file = wideFile(place, { drivers: wideDrivers, months, seed: 1 });
  const port = await freePort();
  const source = { keys: csvKeys(file), mapping: wideMapping, agent: [`status: 127.0.0.1:${port}`] };
  const config = writeConfig(directory(place, 'status-busy'), place.url, source);
  place.receiver.skip();
  const startedMs = performance.now();
  await using _daemon = startHelper(agentArgs(place, 'run', config));
  const pushed = new AbortController();
  void place.receiver.line().then(() => pushed.abort());
  const tookMs: Record<string, number[]> = { '/': [], '/livez': [] };
  while (!pushed.signal.aborted) {
    for (const [address, list] of Object.entries(tookMs)) {
      const took = await ask(port, address).catch(() => undefined);
      if (took !== undefined) list.push(took);
    }
    await wait(pauseMs);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const figure = (address: string, must: number) => ({
    name: `status page: ${address} during a pass, 99th of 100`,
    value: percentile(tookMs[address] ?? [], 0.99),
    unit: 'ms' as const,
    better: 'less' as const,
    must,
  });
  return {
    title: `The status page during a pass over ${wideDrivers * months} points`,
    results: [{ name: 'a pass and its push', seconds, cpuSeconds: NaN, peakMb: NaN }],
    figures: [figure('/', 50), figure('/livez', 100)],
    notes: [
      `${tookMs['/']?.length} requests of each. A machine that is busy with something else makes an answer late too.`,
    ],
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** How long the whole answer took, in ms. */
function ask(port: number, address: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: address, agent: false }, (response) => {
      response.resume().on('end', () => resolve(performance.now() - startedMs));
    }).on('error', reject);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
