/**
 * The table for a mapping: tried on the agent's own reader, which has to read in the rows of a sample what they mean. A mapping that takes only some
 * months, or some numbers, does not.
 */
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { columnNeeds } from '../../core/mapping/columns.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import { isAgentError } from '../../core/errors.ts';
import type { Month } from '../../core/model.ts';
import type { Readings } from '../../core/mapping/reading.ts';
import type { Mapping } from '../../core/settings.ts';
import { formatMonth } from '../../core/time/month.ts';
import { Entropy } from '../entropy.ts';
import { sharedTexts } from '../world/place.ts';
import { Books } from './books.ts';
import { Facts } from './facts.ts';
import { type Grid, type NoGrid, gridFor, timeFields } from './grid.ts';
import { showDecimal } from './numbers.ts';

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
    const read = new Values();
    let problem: string | undefined;
    const take = (readings: Readings): void => {
      for (let at = 0; at < readings.count; at++) {
        const { id, rule } = readings.name(at);
        read.add(id, readings.moment(at).month, rule === 'count' ? 'a number' : readings.value(at));
      }
    };
    mapper.read(batch, 0, { take }, { reject: (_at, why) => (problem ??= why) });
    if (problem !== undefined) return problem;
    if (read.isEmpty) return 'none of its rows passes';
    const meant = new Values();
    for (const one of rows.flatMap(({ means = [] }) => means))
      meant.add(one.driver, one.month, mapping.drivers[one.entry]?.rule === 'count' ? 'a number' : showDecimal(one));
    return meant.differenceTo(read);
  } catch (error) {
    if (isAgentError(error)) return error.message;
    throw error;
  }
}

/** Values of the same driver and month. */
class Values {
  readonly #values = new Map<string, string[]>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  add(driver: string, month: Month, value: string): void {
    const key = `"${driver}" in ${formatMonth(month)}`;
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [value]);
    else values.push(value);
  }

  differenceTo(read: Values): string | undefined {
    for (const key of new Set([...this.#values.keys(), ...read.#values.keys()])) {
      const [written, found] = [this.#textOf(key), read.#textOf(key)];
      if (written === found) continue;
      return found === ''
        ? `nothing is read of ${key}, where ${written} is written`
        : `${key} is read as ${found}, where ${written || 'nothing'} is written`;
    }
    return undefined;
  }

  #textOf(key: string): string {
    return (this.#values.get(key) ?? []).toSorted().join(' and ');
  }
}
