/** Null, zero and missing: what each does to a point that is there and to one that is not. The table is in docs/RULES.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longSource, sourceOf, world } from '../support/world.ts';

const drivers = ['A', 'B', 'C'];
const months = ['2026-01', '2026-02', '2026-03'];

/** The rows of a file by driver and month; the cell of A in February is what the test is about. `undefined`: no such row. */
function file(cell: string | undefined, left: readonly string[] = months): string {
  const rows = drivers.flatMap((id) =>
    left.flatMap((month) => {
      const value = id === 'A' && month === '2026-02' ? cell : '5';
      return value === undefined ? [] : [`${id},${month},"${value}"`];
    }),
  );
  return ['id,time,value', ...rows, ''].join('\n');
}

interface Line {
  /** As in the first column of the table. */
  readonly read: string;
  readonly after: string;
  readonly keys?: object;
  readonly guard?: object;
  /** The point of A that is looked at. Default: 2026-02. */
  readonly month?: string;
  /** What becomes of a 5 that was there. */
  readonly existing: readonly [value: string | undefined, state: string];
  /** What comes where there was none; `undefined`: the question does not arise. */
  readonly absent?: readonly [value: string | undefined, state: string];
}

const accounting = {
  drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: { from: '{value}', accounting: true } }],
};
const gone = { existing: [undefined, 'accepted'], absent: [undefined, 'unchanged'] } as const;
const unread = { existing: ['5', 'unread'], absent: [undefined, 'unread'] } as const;

const lines: readonly Line[] = [
  { read: 'an empty cell, or white space alone', after: file(' '), ...gone },
  { read: 'a word of `missing`', after: file('NA'), keys: { missing: ['', 'NA'] }, ...gone },
  { read: 'an empty cell, where `missing` does not have `""`', after: file(''), keys: { missing: ['NA'] }, ...unread },
  { read: 'no row', after: file(undefined), ...gone },
  {
    read: 'no row of any driver in the newest month',
    after: file('5', months.slice(0, 2)),
    month: '2026-03',
    existing: [undefined, 'accepted'],
  },
  {
    read: 'no row of any driver in the oldest month',
    after: file('5', months.slice(1)),
    month: '2026-01',
    existing: ['5', 'held'],
  },
  {
    read: 'the same with `history: carry`',
    after: file('5', months.slice(1)),
    keys: { history: 'carry' },
    month: '2026-01',
    existing: ['5', 'unchanged'],
  },
  { read: '`0`', after: file('0'), existing: ['0', 'accepted'], absent: ['0', 'accepted'] },
  { read: '`-0.00`', after: file('-0.00'), existing: ['0.00', 'accepted'], absent: ['0.00', 'accepted'] },
  { read: '`-`', after: file('-'), ...unread },
  {
    read: '`-` with `accounting: true`',
    after: file('-'),
    keys: accounting,
    existing: ['0', 'accepted'],
    absent: ['0', 'accepted'],
  },
  { read: 'any other word', after: file('n/a'), ...unread },
  {
    read: 'the same within `maxRejects`',
    after: file('n/a'),
    guard: { maxRejects: '50%' },
    existing: ['5', 'held'],
    absent: [undefined, 'unchanged'],
  },
];

test.each(lines)('$read', async ({ after, keys, guard, month = '2026-02', existing, absent }) => {
  const outcome = async (before: string): Promise<readonly [string | undefined, string]> => {
    const config = { sources: { sales: longSource('sales.csv', keys) }, ...(guard && { guard }) };
    await using w = await world({ config, files: { 'sales.csv': before } });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.write('sales.csv', after);
    const report = await w.sync();
    return [w.points()['A']?.[month], sourceOf(report, 'sales').state];
  };
  expect(await outcome(file('5'))).toEqual(existing);
  if (absent === undefined) return;
  expect(await outcome(file(undefined))).toEqual(absent);
});

test('a JSON null is an empty cell', async () => {
  const config = { sources: { sales: { ...longSource('sales.json'), type: 'json', settle: '0s' } } };
  const text = (value: unknown): string =>
    JSON.stringify(drivers.map((id) => ({ id, time: '2026-02', value: id === 'A' ? value : '5' })));
  await using w = await world({ config, files: { 'sales.json': text('5') } });
  await w.sync();
  await w.write('sales.json', text(null));
  expect(sourceOf(await w.sync(), 'sales')).toMatchObject({ state: 'accepted', changes: { points: { delete: 1 } } });
});

test('in a wide file an empty cell is an empty cell, and a column that is gone is a month without rows', async () => {
  const config = {
    sources: {
      sales: longSource('sales.csv', { unpivot: { columns: '^\\d{4}-\\d{2}$', name: 'time', value: 'value' } }),
    },
  };
  const wide = (columns: readonly string[], ofA: readonly string[]): string =>
    [['id', ...columns], ['A', ...ofA], ...['B', 'C'].map((id) => [id, ...columns.map(() => '5')])]
      .map((row) => `${row.join(',')}\n`)
      .join('');
  await using w = await world({ config, files: { 'sales.csv': wide(months, ['5', '5', '5']) } });
  await w.sync();
  await w.write('sales.csv', wide(months, ['5', '', '5']));
  await w.sync();
  expect(w.points()['A']).toEqual({ '2026-01': '5', '2026-03': '5' });
  await w.write('sales.csv', wide(months.slice(0, 2), ['5', '5']));
  await w.sync();
  expect(w.points()).toEqual({
    A: { '2026-01': '5', '2026-02': '5' },
    B: { '2026-01': '5', '2026-02': '5' },
    C: { '2026-01': '5', '2026-02': '5' },
  });
});

test('a sum takes 0 as a reading and an empty cell as none', async () => {
  const config = {
    sources: {
      sales: longSource('sales.csv', {
        drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}', collapse: 'sum' }],
      }),
    },
  };
  const rows = (...values: readonly string[]): string =>
    ['id,time,value', ...values.map((value) => `A,2026-01,${value}`), 'B,2026-01,5', ''].join('\n');
  await using w = await world({ config, files: { 'sales.csv': rows('5', '') } });
  await w.sync();
  expect(await w.explain('A', '2026-01')).toMatchObject({ points: [{ value: '5', superseded: 0 }] });
  await w.write('sales.csv', rows('0', ''));
  await w.sync();
  expect(await w.explain('A', '2026-01')).toMatchObject({ points: [{ value: '0', superseded: 0 }] });
  await w.write('sales.csv', rows('', ''));
  await w.sync();
  expect(w.points()).toEqual({ B: { '2026-01': '5' } });
});

test('the table in the docs has these lines', () => {
  const text = readFileSync(new URL('../../docs/RULES.md', import.meta.url), 'utf8');
  const [, table = ''] = text.split('## Null, zero and missing\n');
  const rows = table
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const said = rows.slice(1).map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
  const found = lines.map(({ read, existing: [value] }) => [read, value === undefined]);
  expect(said.map(([read, existing = '']) => [read, existing.includes('deleted')])).toEqual(found);
});
