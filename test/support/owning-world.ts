/** Worlds of several sources, each with a file of drivers of its own. */
import { expect } from 'vitest';
import { type Config, type TestWorld, gridFile, longSource, world } from './world.ts';

/** Sources by name, each with a file of its own. */
export function sourcesOf(names: readonly string[], more: object = {}): Config {
  return { ...more, sources: Object.fromEntries(names.map((name) => [name, longSource(`${name}.csv`)])) };
}

/** A world in which every source has these drivers accepted and pushed. */
export async function owning(
  drivers: Readonly<Record<string, readonly string[]>>,
  more: object = {},
): Promise<TestWorld> {
  const files = Object.fromEntries(Object.entries(drivers).map(([name, list]) => [`${name}.csv`, gridFile(list)]));
  const w = await world({ config: sourcesOf(Object.keys(drivers), more), files });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return w;
}

export async function give(
  w: TestWorld,
  drivers: Readonly<Record<string, readonly string[]>>,
  value = '1',
): Promise<void> {
  for (const [name, list] of Object.entries(drivers)) {
    await w.write(`${name}.csv`, gridFile(list).replaceAll(',1\n', `,${value}\n`));
  }
}
