/** Files of drivers whose values tell them apart. */
import { longFile, months } from './world.ts';

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
