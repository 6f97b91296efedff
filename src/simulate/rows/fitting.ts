/** The table for a mapping: tried on the agent's own reader, which has to read every row of a sample. */
import { RowCoder } from '../../core/mapping/row-coder.ts';
import { columnNeeds } from '../../core/mapping/columns.ts';
import { RowMapper } from '../../core/mapping/row-mapper.ts';
import { isAgentError } from '../../core/errors.ts';
import type { Mapping } from '../../core/settings.ts';
import { Entropy } from '../entropy.ts';
import { sharedTexts } from '../world/place.ts';
import { Books } from './books.ts';
import { Facts } from './facts.ts';
import { type Grid, type NoGrid, gridFor, timeFields } from './grid.ts';

const sample = { part: 'export', items: [0, 1], months: { first: 24_312, last: 24_315 } };

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
  const items = sample.items.filter((item) => item < grid.items.length);
  const entropy = new Entropy(1);
  const facts = new Facts('sample', entropy);
  const { columns, rows } = new Books('sample', grid, { facts, entropy }).sheet({ ...sample, items });
  const shared = sharedTexts(sample.part);
  try {
    using mapper = new RowMapper(mapping, columns, { timezone, calendar: undefined }, { shared });
    const coder = new RowCoder((names) => columnNeeds(mapping, names));
    const batch = coder.batch({ columns, rows: rows.map(({ fields }) => fields), shared });
    let readings = 0;
    let problem: string | undefined;
    mapper.read(
      batch,
      0,
      { take: ({ count }) => void (readings += count) },
      { reject: (_at, why) => (problem ??= why) },
    );
    return problem ?? (readings === 0 ? 'none of its rows passes' : undefined);
  } catch (error) {
    if (isAgentError(error)) return error.message;
    throw error;
  }
}
