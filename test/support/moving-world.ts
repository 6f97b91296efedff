/** Drivers that move between sources, whose values tell them apart. */
import { expect } from 'vitest';
import { sourcesOf } from './owning-world.ts';
import { type TestWorld, ids, longFile, months, world } from './world.ts';

const allYear = months(13, 24);

/** Drivers whose values differ by driver and month, so that a slip in them can be told. */
export function yearOf(drivers: readonly string[], zeros = ''): string {
  const valueOf = (id: string, at: number): string =>
    `${[...id].reduce((sum, c) => sum + c.codePointAt(0)!, 37 * at)}${zeros}`;
  return longFile(
    Object.fromEntries(
      drivers.map((id) => [id, Object.fromEntries(allYear.map((month, at) => [month, valueOf(id, at)]))]),
    ),
  );
}

/** These move. */
export const moved = ids(1, 3);
/** These stay in "a". */
export const left = ids(11, 19);
/** These are in "b". */
export const others = ids(21, 29);

/** "a" has twelve drivers, "b" nine others. */
export async function twoSources(more: object = {}): Promise<TestWorld> {
  const config = sourcesOf(['a', 'b'], { guard: { maxDeletes: '30%' }, ...more });
  const files = { 'a.csv': yearOf([...left, ...moved]), 'b.csv': yearOf(others) };
  const w = await world({ config, files });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return w;
}

/** Three drivers move from "a" to "b". */
export async function move(w: TestWorld, zeros = '', before = others): Promise<void> {
  await w.write('a.csv', yearOf(left));
  await w.write('b.csv', yearOf(before).concat(yearOf(moved, zeros).replace(/^.*\n/u, '')));
}
