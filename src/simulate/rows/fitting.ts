/** The table for a mapping: tried on the agent's own reader, which has to read every row of a sample, of any month that histories have. */
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { columnNeeds } from '../../core/mapping/columns.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import { isAgentError } from '../../core/errors.ts';
import type { Readings } from '../../core/mapping/reading.ts';
import type { Mapping } from '../../core/settings.ts';
import { Entropy } from '../entropy.ts';
import { sharedTexts } from '../world/place.ts';
import { Books } from './books.ts';
import { Facts } from './facts.ts';
import { type Grid, type NoGrid, gridFor, timeFields } from './grid.ts';

/** All months that histories have: 2025 and 2026. */
const sample = { part: 'export', months: { first: 24_300, last: 24_323 } };
/** More is booked in the course of a history. */
const moreBookings = 2;

/** @param itemsMax how many distinct combinations of names there may be */
export function fittingGrid(mapping: Mapping, itemsMax: number, timezone: string): Grid | NoGrid {
  let why = 'its times cannot be written';
  for (const style of ['day', 'month'] as const) {
    const grid = gridFor(mapping, itemsMax, style);
    if ('why' in grid) return grid;
    if (timeFields(grid, sample.months.first, 5) === undefined) continue;
    const problem = problemOf(grid, timezone);
    if (problem === undefined) return grid;
    why = problem;
  }
  return { why };
}

function problemOf(grid: Grid, timezone: string): string | undefined {
  const { mapping } = grid;
  const items = [...grid.items.keys()];
  const entropy = new Entropy(1);
  const facts = new Facts('sample', entropy);
  for (const item of items)
    for (let month = sample.months.first; month <= sample.months.last; month++)
      for (let more = 0; more < moreBookings; more++) facts.book(item, month);
  const { columns, rows } = new Books('sample', grid, { facts, entropy }).sheet({ ...sample, items });
  const shared = sharedTexts(sample.part);
  try {
    using mapper = new RowMapper(mapping, columns, { timezone, calendar: undefined }, { shared });
    const coder = new RowCoder((names) => columnNeeds(mapping, names));
    const batch = coder.batch({ columns, rows: rows.map(({ fields }) => fields), shared });
    const read = new Counts();
    let problem: string | undefined;
    const take = (readings: Readings): void => {
      for (let at = 0; at < readings.count; at++) read.add(readings.name(at).id);
    };
    mapper.read(batch, 0, { take }, { reject: (_at, why) => (problem ??= why) });
    if (problem !== undefined) return problem;
    if (read.isEmpty) return 'none of its rows passes';
    const meant = new Counts();
    for (const { driver } of rows.flatMap(({ means = [] }) => means)) meant.add(driver);
    return meant.differenceTo(read);
  } catch (error) {
    if (isAgentError(error)) return error.message;
    throw error;
  }
}

/** How many readings each driver has. What they say is for the histories to compare: a number that is read wrong is no reason to leave it out. */
class Counts {
  readonly #counts = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  add(driver: string): void {
    this.#counts.set(driver, this.#of(driver) + 1);
  }

  differenceTo(read: Counts): string | undefined {
    const driver = [...this.#counts.keys(), ...read.#counts.keys()].find((one) => this.#of(one) !== read.#of(one));
    return driver === undefined
      ? undefined
      : `of ${this.#of(driver)} numbers of "${driver}" in 2025 and 2026 it reads ${read.#of(driver)}`;
  }

  #of(driver: string): number {
    return this.#counts.get(driver) ?? 0;
  }
}
