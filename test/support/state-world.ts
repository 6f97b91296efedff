/** Commands of the agent over a state directory, in this process, and an independent service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { runCommand } from '../../src/cli/program.ts';
import { csv } from './process.ts';
import { type Receiver, openReceiver, pointsOf } from './receiver.ts';

export interface Done<T = Record<string, unknown>> {
  readonly exit: number;
  /** What it printed with `--json`. */
  readonly json: T;
  readonly stderr: string;
}

export interface World {
  readonly state: string;
  readonly service: Receiver;
  /** The same value in each month. */
  write(name: string, values: Readonly<Record<string, string>>, months?: readonly string[]): void;
  /** The share with a file is not there. */
  unplug(name: string): void;
  run<T>(...args: readonly string[]): Promise<Done<T>>;
}

export const threeMonths = ['2026-01', '2026-02', '2026-03'];

/** Two sources of a file each, `sales.csv` and `rents.csv`, and a service that has push 1 of them. */
export async function world({ state }: { state?: string } = {}): Promise<World> {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-state-'));
  const service = await openReceiver();
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });
  const config = path.join(dir, 'driver-sync.yaml');
  const sources = { sales: csv('sales.csv'), rents: csv('rents.csv') };
  writeFileSync(config, stringify({ state, destination: { url: service.url, timeout: '1s' }, sources }));
  const write: World['write'] = (name, values, months = threeMonths) => {
    const rows = Object.entries(values).flatMap(([id, value]) => months.map((month) => `${id},${month},${value}`));
    writeFileSync(path.join(dir, name), ['id,time,value', ...rows, ''].join('\n'));
  };
  write('sales.csv', { north: '1.50', south: '2' });
  write('rents.csv', { office: '300' });
  return {
    state: state ?? path.join(dir, '.driver-sync'),
    service,
    write,
    unplug: (name) => rmSync(path.join(dir, name)),
    run: (...args) => command([...args, '--config', config]),
  };
}

export async function servedWorld(options: { state?: string } = {}): Promise<World> {
  const one = await world(options);
  expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
  return one;
}

/** Runs a command in this process, as the executable does. */
async function command<T>(args: readonly string[]): Promise<Done<T>> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      said[name] += String(chunk);
      return true;
    }),
  );
  try {
    const exit = await runCommand([...args, '--json']);
    return { exit, json: (said.stdout === '' ? undefined : JSON.parse(said.stdout)) as T, stderr: said.stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** `{ north: '1.50' }`: what the service holds in January. */
export function holds({ service }: World): Record<string, string | undefined> {
  const last = service.posts.at(-1);
  return last === undefined
    ? {}
    : Object.fromEntries(Object.entries(pointsOf(last)).map(([id, by]) => [id, by['2026-01']]));
}

export function file({ state }: World, name: 'buffer' | 'ledger'): string {
  return path.join(state, `${name}.db`);
}
