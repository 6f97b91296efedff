/**
 * The slips that a person makes in the sample of `npm start`, one kind of finding after the other, and the words that the
 * commands have for them. docs/SLIPS.md shows the same lines.
 */
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Ran, commandLine } from '../support/command-line.ts';
import { place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(path.join(root, 'docs/SLIPS.md'), 'utf8');

interface Sample {
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** Changes a file of the sample; the change gets and gives its text. */
  readonly edit: (file: string, change: (text: string) => string) => Promise<void>;
  readonly add: (file: string, text: string) => Promise<void>;
}

/** The sample with its config, pushed once. @param keys of the agent, such as `lastClose: 2025-06` */
async function sample(keys = '', prepare?: (text: string) => string): Promise<Sample> {
  const receiver = await openReceiver();
  const at = await place({}, {});
  onTestFinished(async () => {
    await at[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  cpSync(path.join(root, 'config/sample'), path.join(at.dir, 'sample'), { recursive: true });
  const config = readFileSync(path.join(root, 'config/driver-sync.yaml'), 'utf8')
    .replace(/^destination: emulator.*$/m, `destination: { url: "${receiver.url}" }\n${keys}`)
    .replaceAll(/^ {4}type: csv$/gm, '    type: csv\n    settle: 0s');
  await at.write('driver-sync.yaml', config);
  // Balances are in windows-1252, and every other file is ASCII.
  const read = (file: string): string => readFileSync(path.join(at.dir, 'sample', file), 'latin1');
  const write = (file: string, text: string): Promise<void> => at.write(`sample/${file}`, Buffer.from(text, 'latin1'));
  const edit: Sample['edit'] = (file, change) => write(file, change(read(file)));
  if (prepare !== undefined) await edit('costs-by-month.csv', prepare);
  const run: Sample['run'] = (command = '', ...args) =>
    commandLine(command, '--config', path.join(at.dir, 'driver-sync.yaml'), ...args);
  expect((await run('sync')).code).toBe(0);
  return { run, edit, add: write };
}

/** The cells of months of the cost file. */
const costs = (change: (value: string, account: string, month: string) => string) => (text: string) => {
  const [title = '', header = '', ...rows] = text.trimEnd().split('\n');
  const months = header.split(',').slice(2);
  const changed = rows.map((row) => {
    const [, account = '', name = '', cells = ''] = /^(\d+),("[^"]*"|[^,]*),(.*)$/.exec(row) ?? [];
    const values = cells
      .split(',')
      .map((value, at) => (value === 'n/a' ? value : change(value, account, months[at] ?? '')));
    return [account, name, ...values].join(',');
  });
  return [title, header, ...changed, ''].join('\n');
};

/** The cost file with a column for one more month, made of the last one. */
const nextMonth = (month: string, change: (value: string) => string) => (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line, at) =>
      at === 0 ? line : `${line},${at === 1 ? month : change(line.slice(line.lastIndexOf(',') + 1))}`,
    )
    .join('\n')
    .concat('\n');

/** Orders of January 2026: those of the December before, with other amounts. */
async function january(one: Sample, amount: (cents: number) => string): Promise<void> {
  const orders: string[] = [];
  await one.edit('orders-2025.csv', (text) => {
    orders.push(...text.split('\n').filter((line) => line.includes(',2025-12-') && line.endsWith(',shipped')));
    return text;
  });
  const rows = orders.map((line, at) => {
    const [, date = '', region, product, paid] = line.split(',');
    return `26-${1000 + at},${date.replace('2025-12', '2026-01')},${region},${product},${amount(Math.round(Number(paid) * 103))},shipped`;
  });
  await one.add('orders-2026.csv', ['order,date,region,product,amount,status', ...rows, ''].join('\n'));
}

const more = [6500, 6510, 6520, 6530, 6540, 6550, 6560];
/** Seven more accounts, so that a copied month can be told from a quiet one. */
const twelveAccounts = (text: string): string => {
  const rows = more.map((account, row) => {
    const cells = Array.from({ length: 24 }, (_, at) => `${200 + row * 37 + ((row * 7 + at * 11) % 13)}.${10 + at}`);
    return `${account},Account ${account},${cells.join(',')}`;
  });
  return `${text.trimEnd()}\n${rows.join('\n')}\n`;
};

interface Story {
  readonly slip: string;
  readonly source: string;
  readonly keys?: string;
  readonly prepare?: (text: string) => string;
  readonly make: (one: Sample) => Promise<void>;
  readonly said: readonly string[];
}

const stories: readonly Story[] = [
  {
    slip: 'the costs are exported in thousands',
    source: 'costs',
    make: ({ edit }) =>
      edit(
        'costs-by-month.csv',
        costs((value) => (Number(value) / 1000).toFixed(5)),
      ),
    said: [
      'costs: held: 116 of 116 values of the source are 0.001 times what they were',
      '  another unit, sign or currency? mend the export or "scale" and "negate"; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  another unit: the source, 116 of 116 values, 0.001 times',
      '    such as: costs/6000  2025-12  from 38626.00 to 38.62600',
      '    such as: costs/6200  2025-12  from 3550.00 to 3.55000',
      '    such as: costs/6310  2025-12  from 4290.50 to 4.29050',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'the orders are exported while they are still being loaded',
    source: 'orders',
    make: ({ edit }) =>
      edit('orders-2025.csv', (text) =>
        text
          .split('\n')
          .filter((line, at) => at === 0 || line === '' || at % 3 !== 0)
          .join('\n'),
      ),
    said: [
      'orders: held: 93 of 254 readings behind changed points of the source are gone (2025-01, 2025-02, 2025-03, 2025-04, 2025-05, 2025-06 and 6 more months)',
      '  a table that is still being loaded, or a query that leaves rows out? read it again once all are there; approve it if these rows are really gone, and say "guard: { values: warn }" in a source whose rows go as they are settled',
      '  meanwhile its accepted data stays in every snapshot',
      '  would delete: revenue/north/espresso-beans  2025-12',
      '  would delete: revenue/north/grinders  2025-09',
      '  would delete: revenue/south/filter-beans  2 points from 2025-01 to 2025-06',
      '  would delete: revenue/south/grinders  2 points from 2025-02 to 2025-08',
      '  fewer readings: the source, 93 of 254 readings, 2025-01, 2025-02, 2025-03, 2025-04, 2025-05, 2025-06 and 6 more months',
      '    such as: orders/north  2025-12  from 9 to 5',
      '    such as: orders/south  2025-12  from 7 to 6',
      '    such as: revenue/north/espresso-beans  2025-11  from 6993.00 to 3367.00',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'one balance is exported with the other sign',
    source: 'balances',
    make: ({ edit }) => edit('salden.csv', (text) => text.replaceAll('Verbindlichkeiten;-', 'Verbindlichkeiten;')),
    said: [
      'balances: held: 24 of 24 values of Balances / Verbindlichkeiten have the other sign',
      '  another unit, sign or currency? mend the export or "scale" and "negate"; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  another sign: Balances / Verbindlichkeiten, 24 of 24 values',
      '    such as: balance/1600  2025-12  from -15239.20 to 15239.20',
      '    such as: balance/1600  2025-11  from -15187.95 to 15187.95',
      '    such as: balance/1600  2025-10  from -13872.39 to 13872.39',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'recurring revenue is exported in another currency',
    source: 'subscriptions',
    make: ({ edit }) =>
      edit('subscriptions.csv', (text) =>
        text.replaceAll(/"\$([\d,]+\.\d\d)"/g, (_, dollars: string) => {
          const [whole = '', cents = ''] = (Number(dollars.replaceAll(',', '')) * 0.9217).toFixed(2).split('.');
          return `"$${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')}.${cents}"`;
        }),
      ),
    said: [
      'subscriptions: held: 24 of 24 values of Subscriptions / Monthly recurring revenue are 0.9217 times what they were',
      '  another unit, sign or currency? mend the export or "scale" and "negate"; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  another factor, such as a currency: Subscriptions / Monthly recurring revenue, 24 of 24 values, 0.9217 times',
      '    such as: Subscriptions/Monthly recurring revenue  2025-12  from 30702.34 to 28298.35',
      '    such as: Subscriptions/Monthly recurring revenue  2025-11  from 29953.03 to 27607.71',
      '    such as: Subscriptions/Monthly recurring revenue  2025-10  from 29202.14 to 26915.61',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'the orders of a new month are in cents',
    source: 'orders',
    make: (one) => january(one, (cents) => String(cents)),
    said: [
      'orders: held: 6 of 6 new values of Sales / Revenue (2026-01) are about 100 times what the months next to them were',
      '  another unit in the new month? mend the export; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  another unit in a new month: Sales / Revenue, 6 of 6 new values, about 100 times, 2026-01',
      '    such as: revenue/north/espresso-beans  2026-01  from 6697.00 to 689792',
      '    such as: revenue/north/filter-beans  2026-01  from 4849.50 to 499499',
      '    such as: revenue/north/grinders  2026-01  from 7665.00 to 789495',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'the orders of a new month have the other sign',
    source: 'orders',
    make: (one) => january(one, (cents) => `-${(cents / 100).toFixed(2)}`),
    said: [
      'orders: held: 6 of 6 new values of Sales / Revenue (2026-01) have the other sign than the whole year before',
      '  a sign that was turned? mend the export or "negate"; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  another sign in a new month: Sales / Revenue, 6 of 6 new values, 2026-01',
      '    such as: revenue/north/espresso-beans  2026-01  from 6697.00 to -6897.92',
      '    such as: revenue/north/filter-beans  2026-01  from 4849.50 to -4994.99',
      '    such as: revenue/north/grinders  2026-01  from 7665.00 to -7894.95',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'the header of the costs is a month late',
    source: 'costs',
    make: ({ edit }) =>
      edit('costs-by-month.csv', (text) => text.replace(',2024-01,', ',').replace('2025-12\n', '2025-12,2026-01\n')),
    said: [
      'costs: held: 92 of 92 values of the source stand 1 month later than before',
      '  another date column, time zone or fiscal calendar? mend the export or "time"; approve it if the months are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  would delete: costs/6000  2024-01',
      '  would delete: costs/6200  2024-01',
      '  would delete: costs/6310  2024-01',
      '  would delete: costs/6400  2024-01',
      '  would delete: costs/6650  3 points from 2024-03 to 2025-09',
      '  values in other months: the source, 92 of 92 values, 1 month later than before',
      '    such as: costs/6000  2025-12  from 38626.00 to 38613.00',
      '    such as: costs/6200  2025-12  from 3550.00 to 3316.00',
      '    such as: costs/6400  2025-12  from 1026.99 to 1011.28',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'two columns have changed places',
    source: 'subscriptions',
    make: ({ edit }) => edit('subscriptions.csv', (text) => text.replace('signups,churned', 'churned,signups')),
    said: [
      "subscriptions: held: Subscriptions / Churned and Subscriptions / Signups have each other's values",
      '  columns or names that changed places? mend the export; approve it if the new values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  exchanged values: Subscriptions / Churned and Subscriptions / Signups, 24 of 24 values',
      '    such as: Subscriptions/Churned  2025-12  from 24 to 60',
      '    such as: Subscriptions/Churned  2025-11  from 22 to 51',
      '    such as: Subscriptions/Churned  2025-10  from 20 to 54',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'a new month is the one before once more',
    source: 'costs',
    prepare: twelveAccounts,
    make: ({ edit }) =>
      edit(
        'costs-by-month.csv',
        nextMonth('2026-01', (value) => value),
      ),
    said: [
      'costs: held: 12 of 12 new values of the source (2026-01) are those of the month before, to the digit',
      '  an export that was not refreshed? read it again once it is; approve it if the values are right',
      '  meanwhile its accepted data stays in every snapshot',
      '  a copied month: the source, 12 of 12 new values, 2026-01',
      '    such as: costs/6000  2026-01  from 38626.00 to 38626.00',
      '    such as: costs/6200  2026-01  from 3550.00 to 3550.00',
      '    such as: costs/6310  2026-01  from 4290.50 to 4290.50',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'an account lost its values',
    source: 'costs',
    make: ({ edit }) =>
      edit(
        'costs-by-month.csv',
        costs((value, account) => (account === '6200' ? '0' : value)),
      ),
    said: [
      'costs: held: 24 of 24 values of Costs / Marketing that were not 0 became 0',
      '  an export that lost its values? mend it; approve it if the values are really 0',
      '  meanwhile its accepted data stays in every snapshot',
      '  values that became 0: Costs / Marketing, 24 of 24 values',
      '    such as: costs/6200  2025-12  from 3550.00 to 0',
      '    such as: costs/6200  2025-11  from 3316.00 to 0',
      '    such as: costs/6200  2025-10  from 3267.00 to 0',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
  {
    slip: 'somebody books into a month that is closed',
    source: 'costs',
    keys: 'lastClose: 2025-06',
    make: ({ edit }) =>
      edit(
        'costs-by-month.csv',
        costs((value, account, month) => (account === '6000' && month === '2025-03' ? '37900.00' : value)),
      ),
    said: [
      'costs: held: 1 point of a closed month of Costs / Salaries would change (2025-03, closed up to 2025-06): "costs/6000" 2025-03 from 37140.00 to 37900.00',
      '  approve it to open these months once, for this change; else mend the export',
      '  meanwhile its accepted data stays in every snapshot',
      '  closed months: Costs / Salaries, 1 of 18 points, 2025-03',
      '    such as: costs/6000  2025-03  from 37140.00 to 37900.00',
      '  approve it with: driver-sync approve DIGEST',
    ],
  },
];

/** The lines about a held source, up to how it is approved. */
function linesAbout(source: string, { stdout }: Ran): readonly string[] {
  const lines = stdout.replaceAll(/\b[0-9a-f]{12}\b/g, 'DIGEST').split('\n');
  const [first, last] = [`${source}: held: `, '  approve it with: '].map((begin) =>
    lines.findIndex((line) => line.startsWith(begin)),
  );
  return lines.slice(first, (last ?? 0) + 1);
}

test.each(stories)('$slip: plan, sync and status tell it alike', async ({ source, keys, prepare, make, said }) => {
  const one = await sample(keys, prepare);
  await make(one);
  const planned = await one.run('plan');
  expect(planned.code).toBe(4);
  expect(linesAbout(source, planned)).toEqual(said);
  const synced = await one.run('sync');
  expect(synced.code).toBe(4);
  for (const ran of [synced, await one.run('status')]) expect(linesAbout(source, ran)).toEqual(said);
  expect(page).toContain(`\n${said.join('\n')}\n`);
});
