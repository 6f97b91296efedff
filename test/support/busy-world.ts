/** A company's sources after some weeks: restatements, a held export, rejects, a part that is gone, a decision. */
import { type CommandsWorld, commandsWorld, copyOfWorld } from './commands-world.ts';
import { csv } from './process.ts';

const regions = ['North', 'South', 'East', 'West', 'Online', 'Partners'];

/** `2023-01` to the last month of so many. */
function monthsUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => new Date(Date.UTC(2023, at, 1)).toISOString().slice(0, 7));
}

/** Sales of each region, which grow; `scale` slips every value, `restated` changes one quarter. */
function sales(months: number, { scale = 1, restated = 0 } = {}): string {
  const lines = regions.flatMap((region, place) =>
    monthsUpTo(months).map((month, at) => {
      const isRestated = at >= 20 && at < 23;
      const value = (184_000 + place * 61_250 + at * 3120 + ((at * 37 + place * 11) % 13) * 2400) * scale;
      return `Sales/${region},${month},${(value + (isRestated ? restated : 0)).toFixed(2)}`;
    }),
  );
  return ['id,time,value', ...lines, ''].join('\n');
}

function staff(months: number): string {
  const lines = ['Berlin', 'Lyon', 'Porto'].flatMap((city, place) =>
    monthsUpTo(months).map((month, at) => `Heads/${city},${month},${40 + place * 7 + Math.floor(at / 4)}`),
  );
  return ['id,time,value', ...lines, ''].join('\n');
}

const costs = (rows: string): string => `id,time,value\nCosts/Rent,2025-01,-7500\nCosts/Rent,2025-02,-7500\n${rows}`;

const paths = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }];

/** To be looked at: see `copyOfWorld`. */
export const busyWorld = (): Promise<CommandsWorld> => copyOfWorld('busy', weeksLater);

async function weeksLater(): Promise<CommandsWorld> {
  const world = await commandsWorld(
    {
      sales: csv('sales.csv', { drivers: paths }),
      staff: csv('staff-*.csv', { drivers: paths }),
      costs: csv('costs.csv', { drivers: paths }),
    },
    {
      'sales.csv': sales(34),
      'staff-1.csv': staff(34),
      'staff-2.csv': 'id,time,value\nHeads/Remote,2025-01,12\n',
      'costs.csv': costs(''),
    },
    { guard: { maxRejects: 5 }, timezone: 'Europe/Berlin', schedule: '15 2 * * *' },
  );
  const { at, run } = world;
  await run('sync');
  for (const restated of [8000, -14_000, 23_500]) {
    await at.write('sales.csv', sales(35, { restated }));
    await run('sync');
  }
  await at.write(
    'costs.csv',
    costs('Costs/Rent,March,-7500\nCosts/Power,2025-01,"1,2,3"\nCosts/Power,2025-02,-310.40\n'),
  );
  await at.remove('staff-2.csv');
  await run('sync');
  await run('rollback', '4', '--reason', 'the restatement of May was entered twice');
  await at.write('sales.csv', sales(35, { scale: 1000, restated: 23_500 }));
  await run('sync');
  return world;
}

/** Before the first pass. */
export function emptyWorld(): Promise<CommandsWorld> {
  return commandsWorld({ sales: csv('sales.csv') }, { 'sales.csv': sales(3) });
}
