/** A place with a config, files and a receiver, and the commands that run on it in this process. */
import { cp } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { type Ran, commandAt } from './command-line.ts';
import { preparedFolder } from './prepared-files.ts';
import { type Place, csv, place } from './process.ts';
import { type Receiver, openReceiver } from './receiver.ts';
import { longFile } from './world.ts';

export interface CommandsWorld {
  readonly at: Place;
  readonly receiver: Receiver;
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** What a command prints with --json. */
  readonly json: <T = unknown>(...args: readonly string[]) => Promise<T>;
  /** Another config for the same receiver. */
  readonly configure: (sources: object, config?: object) => Promise<void>;
}

/** Ends with its test. */
export async function commandsWorld(
  sources: object,
  files: Readonly<Record<string, string>>,
  config: object = {},
): Promise<CommandsWorld> {
  const receiver = await openReceiver();
  const whole = (of: object, more: object): object => ({ destination: { url: receiver.url }, ...more, sources: of });
  const at = await place(whole(sources, config), files);
  onTestFinished(async () => {
    await at[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  const run: CommandsWorld['run'] = (command = '', ...args) => commandAt(at, command, ...args);
  return {
    at,
    receiver,
    run,
    json: async <T>(command = '', ...args: readonly string[]) => (await run(command, '--json', ...args)).json<T>(),
    configure: (next, more = {}) => at.configure(whole(next, more)),
  };
}

/**
 * A copy, for a test of its own, of what `make` makes once for a run. To be looked at or damaged: whoever took its pushes is gone, so
 * that no other one arrives.
 */
export async function copyOfWorld(name: string, make: () => Promise<CommandsWorld>): Promise<CommandsWorld> {
  const copy = (from: string, to: string): Promise<void> => cp(from, to, { recursive: true, preserveTimestamps: true });
  const made = await preparedFolder([name], async (folder) => await copy((await make()).at.dir, folder));
  if (made === undefined) return await make();
  const world = await commandsWorld({}, {});
  await copy(made, world.at.dir);
  return world;
}

/** Sources `revenue` (20 drivers), `costs` and `staff`, a file each. */
export function threeSources(config: object = {}): Promise<CommandsWorld> {
  const sources = Object.fromEntries(['revenue', 'costs', 'staff'].map((name) => [name, csv(`${name}.csv`)]));
  const files = {
    'revenue.csv': manyDrivers(20),
    'costs.csv': longFile({ Rent: { '2026-01': '-7.50', '2026-02': '8' } }),
    'staff.csv': longFile({ Heads: { '2026-01': 3 } }),
  };
  return commandsWorld(sources, files, config);
}

/** A file of this many drivers with a point each. */
export function manyDrivers(count: number): string {
  return longFile(Object.fromEntries(Array.from({ length: count }, (_, index) => [`R${index}`, { '2026-01': 1 }])));
}

/** North in two months, pushed; then February changed and South came, pushed as the second. */
export async function twoPushes(): Promise<CommandsWorld> {
  const commands = await commandsWorld(
    { revenue: csv('a.csv') },
    { 'a.csv': longFile({ North: { '2026-01': '1.50', '2026-02': 2 } }) },
  );
  await commands.run('sync');
  await commands.at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 3 }, South: { '2026-01': 4 } }));
  await commands.run('sync');
  return commands;
}
