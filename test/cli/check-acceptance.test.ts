/** `check` reads the parts that `sync` would read, and says where `sync` would not accept them. */
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandsWorld, commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

interface Checked {
  readonly ok: boolean;
  readonly sources: readonly {
    readonly readings: readonly { readonly driver: string; readonly month: string; readonly value: string }[];
    readonly refusals: readonly { readonly message: string; readonly hint?: string }[];
    readonly warnings: readonly string[];
  }[];
}

/** What `check` says of one source, and with which exit code. */
async function checked({ run }: CommandsWorld): Promise<Checked['sources'][number] & { code: number; ok: boolean }> {
  const { code, json } = await run('check', '--json');
  const { ok, sources } = json<Checked>();
  return { code, ok, ...sources[0]! };
}

describe('check reads what sync reads', () => {
  test('the newest file is the one with the newest content, though an older one was touched', async () => {
    const commands = await commandsWorld(
      { books: csv('books-*.csv', { parts: 'newest' }) },
      { 'books-1.csv': longFile({ Old: { '2026-01': 1 } }), 'books-2.csv': longFile({ New: { '2026-01': 2 } }) },
    );
    const { at, run } = commands;
    await utimes(path.join(at.dir, 'books-1.csv'), new Date('2026-01-01'), new Date('2026-01-01'));
    await utimes(path.join(at.dir, 'books-2.csv'), new Date('2026-01-02'), new Date('2026-01-02'));
    expect((await run('sync')).code).toBe(0);
    await utimes(path.join(at.dir, 'books-1.csv'), new Date('2026-01-03'), new Date('2026-01-03'));
    expect((await run('sync')).stdout).toContain('unchanged');
    expect((await checked(commands)).readings.map(({ driver }) => driver)).toEqual(['New']);
  });

  test('of two files of one age the later name is the newest', async () => {
    const commands = await commandsWorld(
      { books: csv('{b,a}.csv', { parts: 'newest' }) },
      { 'a.csv': longFile({ A: { '2026-01': 1 } }), 'b.csv': longFile({ B: { '2026-01': 2 } }) },
    );
    const at = new Date('2026-01-01');
    for (const name of ['a.csv', 'b.csv']) await utimes(path.join(commands.at.dir, name), at, at);
    expect((await checked(commands)).readings.map(({ driver }) => driver)).toEqual(['B']);
  });

  test('a driver that counts is shown with counts, and not with the values that are counted', async () => {
    const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}', collapse: 'count' }];
    const commands = await commandsWorld(
      { orders: csv('orders.csv', { drivers }) },
      { 'orders.csv': longFile({ Orders: { '2026-01': '3441.00' } }) },
    );
    expect((await checked(commands)).readings).toEqual([
      { driver: 'Orders', path: ['Orders'], month: '2026-01', value: '1' },
    ]);
  });
});

test('check says that two rows of one day are not added up', async () => {
  const commands = await commandsWorld(
    { books: csv('books.csv') },
    { 'books.csv': 'id,time,value\nRent,2026-01-15,5\nRent,2026-01-15,3\n' },
  );
  expect((await checked(commands)).warnings).toEqual([
    expect.stringMatching(
      /^drivers\[0\]: 1 point has rows of one same time.*5 \(books\.csv row 1\) and 3 \(books\.csv row 2\)/,
    ),
  ]);
  expect((await commands.run('check')).stdout).toContain('note: drivers[0]: 1 point has rows');
});

describe('check of some sources', () => {
  const bad = 'id,time,value\nA,2026-01,1\nA,2026-02,x\n';
  const good = 'id,time,value\nB,2026-01,1\n';
  const files = { 'books.csv': good, 'plan.csv': bad, 'staff.csv': bad.replaceAll('A,', 'C,') };
  const all = { books: csv('books.csv'), plan: csv('plan.csv'), staff: csv('staff.csv'), left: csv('nothing.csv') };

  test('looks at these alone, and says so', async () => {
    const commands = await commandsWorld(all, files);
    const { code, stdout } = await commands.run('check', 'books');
    expect(code).toBe(0);
    expect(stdout).toContain('source books\n');
    expect(stdout).not.toContain('source plan');
    expect(stdout).toMatch(/the config is valid; only books was looked at\n$/);
    const { ok, sources } = (await commands.run('check', 'books', '--json')).json() as {
      ok: boolean;
      sources: { name: string }[];
    };
    expect([ok, sources.map(({ name }) => name)]).toEqual([true, ['books']]);
  });

  test('does not judge them by what the others would give', async () => {
    const commands = await commandsWorld(
      { books: csv('books.csv'), twin: csv('twin.csv') },
      { 'books.csv': good, 'twin.csv': good },
    );
    expect((await commands.run('check', 'twin')).code).toBe(0);
    expect((await commands.run('check')).stdout).toContain('sync would not accept 1 source: twin\n');
  });

  test('names in its last line what is not as it should be', async () => {
    const commands = await commandsWorld(all, files);
    expect((await commands.run('check')).stdout).toMatch(
      /the config is valid, but 1 source cannot be read now: left; sync would not accept 2 sources: plan, staff\n$/,
    );
  });

  test('knows only sources of the config', async () => {
    const commands = await commandsWorld(all, files);
    const { code, stderr } = await commands.run('check', 'book');
    expect([code, stderr]).toEqual([64, 'driver-sync: there is no source "book"\n  did you mean "books"?\n']);
  });
});

describe('check exits 4 where sync would not accept', () => {
  test('rejects beyond guard.maxRejects', async () => {
    const commands = await commandsWorld(
      { books: csv('books.csv') },
      { 'books.csv': 'id,time,value\nA,2026-01,1\nA,2026-02,x\n' },
    );
    expect(await checked(commands)).toMatchObject({
      code: 4,
      ok: false,
      refusals: [{ message: 'books.csv: 1 of 2 rows could not be read, more than guard.maxRejects 1%' }],
    });
    const { stdout } = await commands.run('check');
    expect(stdout).toContain('sync would not accept it: books.csv: 1 of 2 rows could not be read');
    // It has a name and a month, and is no total that a footer may cut off.
    expect(stdout).not.toContain('footer');
    expect(stdout).toContain('the config is valid, but sync would not accept 1 source: books');
    expect((await commands.run('sync')).code).toBe(4);
  });

  test('totals below the data, with the key that declares them', async () => {
    const rows = 'id,time,value\nA,2026-01,1\nA,2026-02,2\nTotal,,3\nAll,,3\n';
    const commands = await commandsWorld({ books: csv('books.csv') }, { 'books.csv': rows });
    const hint = 'they are the last 2 rows: where a total stands below the data, say footer: 2; ';
    expect((await checked(commands)).refusals).toMatchObject([{ hint: expect.stringContaining(hint) as string }]);
    const { sources } = (await commands.run('sync', '--json')).json() as { sources: { hint: string }[] };
    expect(sources[0]?.hint).toBe(`${hint}see "driver-sync rejects books"`);
    await commands.at.write('books.csv', rows.trimEnd());
    const cut =
      'they are the last 2 rows, and no line end follows: was it cut? Where a total stands below the data, say footer: 2';
    expect(JSON.stringify((await checked(commands)).refusals)).toContain(cut);
    await commands.at.write('books.csv', rows);
    await commands.configure({ books: csv('books.csv', { footer: 2 }) });
    expect(await checked(commands)).toMatchObject({ code: 0 });
    // A blank row is none of them.
    await commands.at.write('books.csv', `${rows},\n`);
    expect(await checked(commands)).toMatchObject({ code: 0 });
    await commands.configure({ books: csv('books.csv') });
    const blank = 'they are the last 3 rows: where a total stands below the data, say footer: 2';
    expect(JSON.stringify((await checked(commands)).refusals)).toContain(blank);
    // Another row is wrong, too.
    await commands.at.write('books.csv', rows.replace('2026-01', 'May'));
    await commands.configure({ books: csv('books.csv') });
    expect(JSON.stringify((await checked(commands)).refusals)).not.toContain('footer');
  });

  test('one driver with two rules in one file', async () => {
    const entry = (collapse: string): object => ({ path: ['{id}'], time: '{time}', value: '{value}', collapse });
    const commands = await commandsWorld(
      { books: csv('books.csv', { drivers: [entry('sum'), entry('last')] }) },
      { 'books.csv': longFile({ A: { '2026-01': 1 } }) },
    );
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'books.csv: driver "A" is made with collapse sum and last' }],
    });
  });

  const twoColumns = [
    { path: ['{id}'], time: '{time}', value: '{summed|default:-}', collapse: 'sum' },
    { path: ['{id}'], time: '{time}', value: '{latest|default:-}', collapse: 'last' },
  ];
  const inTwoFiles = (month: string): Record<string, string> => ({
    'a.csv': 'id,time,summed,latest\nA,2026-01,1,\n',
    'b.csv': `id,time,summed,latest\nA,${month},,2\n`,
  });

  test('one driver and month with two rules in two files', async () => {
    const commands = await commandsWorld(
      { books: csv('{a,b}.csv', { drivers: twoColumns, missing: ['-'] }) },
      inTwoFiles('2026-01'),
    );
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'driver "A" has two rules in 2026-01: collapse sum in a.csv, and last in b.csv' }],
    });
    expect((await commands.run('sync')).code).not.toBe(0);
  });

  test('and not where the two rules are of two months: sync accepts those', async () => {
    const commands = await commandsWorld(
      { books: csv('{a,b}.csv', { drivers: twoColumns, missing: ['-'] }) },
      inTwoFiles('2026-02'),
    );
    expect(await checked(commands)).toMatchObject({ code: 0, ok: true, refusals: [] });
    expect((await commands.run('sync')).code).toBe(0);
  });

  test('nor where a third file, with the other rule, has the latest reading', async () => {
    const commands = await commandsWorld(
      { books: csv('{a,b,c}.csv', { drivers: twoColumns, missing: ['-'] }) },
      {
        'a.csv': 'id,time,summed,latest\nA,2026-12,7,\n',
        'b.csv': 'id,time,summed,latest\nA,2026-02,,10\n',
        'c.csv': 'id,time,summed,latest\nA,2026-02,,5\n',
      },
    );
    expect(await checked(commands)).toMatchObject({ code: 0, ok: true, refusals: [] });
    expect((await commands.run('sync')).code).toBe(0);
    expect(JSON.parse((await commands.run('explain', 'A', '2026-02', '--json')).stdout)).toMatchObject({
      points: [{ value: '5' }],
    });
  });

  test('a first read without readings, once all its rows were read', async () => {
    const commands = await commandsWorld(
      { books: csv('books.csv', { where: { id: 'none' } }) },
      { 'books.csv': longFile({ A: { '2026-01': 1 } }) },
    );
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'its first read has no readings' }],
    });
    expect((await commands.run('sync')).code).toBe(4);
  });

  test('nor is it told twice: rows that cannot be read are no empty export', async () => {
    const commands = await commandsWorld(
      { books: csv('books.csv') },
      { 'books.csv': 'id,time,value\nA,2026-01,"1.234,50"\nA,2026-02,"2.345,60"\n' },
    );
    expect((await checked(commands)).refusals).toEqual([
      expect.objectContaining({ message: expect.stringContaining('2 of 2 rows could not be read') }),
    ]);
  });

  test('and not where the readings begin far down in the file', async () => {
    const commands = await commandsWorld(
      { books: csv('books.csv', { where: { id: 'Z' } }) },
      { 'books.csv': `id,time,value\n${'A,2026-01,1\n'.repeat(50_000)}Z,2026-01,1\n` },
    );
    expect(await checked(commands)).toMatchObject({ code: 0, readings: [{ driver: 'Z' }] });
  });

  test('a source that turned empty, and not one that was empty before and approved so', async () => {
    const full = { 'books.csv': longFile({ A: { '2026-01': 1 } }) };
    const commands = await commandsWorld(
      { books: csv('books.csv'), others: csv('others.csv') },
      {
        ...full,
        'others.csv': longFile({ B: { '2026-01': 1 } }),
      },
    );
    const { at, run } = commands;
    await run('sync');
    await at.write('books.csv', 'id,time,value\n');
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'it turned empty and would delete all 1 driver' }],
    });
    const [held] = (await run('sync', '--json')).json<{ sources: { digest: string }[] }>().sources;
    await run('approve', held?.digest ?? '');
    expect(await checked(commands)).toMatchObject({ code: 0, refusals: [] });
    await run('sync');
    expect(await checked(commands)).toMatchObject({ code: 0, refusals: [] });
  });

  test('and not where nothing is ever deleted', async () => {
    const sources = { books: csv('books.csv') };
    const commands = await commandsWorld(sources, { 'books.csv': 'id,time,value\n' });
    const { at, receiver, run, configure } = commands;
    await configure(sources, { destination: { url: receiver.url, shouldDeleteMissing: false } });
    expect(await checked(commands)).toMatchObject({ code: 0, refusals: [] });
    await at.write('books.csv', longFile({ A: { '2026-01': 1 } }));
    expect((await run('sync')).code).toBe(0);
    await at.write('books.csv', 'id,time,value\n');
    expect(await checked(commands)).toMatchObject({ code: 0, refusals: [] });
    expect((await run('sync')).code).toBe(0);
  });

  test('nor where a file without rows is left beside one that is gone and carried', async () => {
    const commands = await commandsWorld(
      { books: csv('{a,b}.csv') },
      { 'a.csv': longFile({ A: { '2026-01': 1 } }), 'b.csv': 'id,time,value\n' },
    );
    const { at, run } = commands;
    await run('sync');
    await at.remove('a.csv');
    expect(await checked(commands)).toMatchObject({ code: 0, refusals: [] });
    expect((await run('sync')).code).toBe(3);
  });

  const cut = 'id,time,value\nB,2026-01,1234';

  test('a file without a line end where another one has one, and where its accepted read had one', async () => {
    const commands = await commandsWorld(
      { books: csv('{a,b}.csv') },
      { 'a.csv': longFile({ A: { '2026-01': 1 } }), 'b.csv': cut },
    );
    const { at, run } = commands;
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'b.csv: it ends without a line end, and a.csv of the same source has one' }],
    });
    await at.write('b.csv', `${cut}\n`);
    await run('sync');
    await at.write('b.csv', cut);
    expect(await checked(commands)).toMatchObject({
      code: 4,
      refusals: [{ message: 'b.csv: it ends without a line end, and its accepted read had one' }],
    });
  });

  test('and only mentions one of which nothing is known', async () => {
    const commands = await commandsWorld({ books: csv('b.csv') }, { 'b.csv': cut });
    expect(await checked(commands)).toMatchObject({
      code: 0,
      ok: true,
      refusals: [],
      warnings: [
        expect.stringMatching(/^b\.csv ends without a line end and may be half a file.* 60 s; say lineEnd: any/),
      ],
    });
    await commands.configure({ books: csv('b.csv', { lineEnd: 'any' }) });
    expect(await checked(commands)).toMatchObject({ code: 0, warnings: [] });
  });
});

test('a shared ledger that cannot be reached keeps no check from saying what it read', async () => {
  const files = { 'books.csv': longFile({ Rent: { '2026-01': 1 } }) };
  const ledger = { url: 'postgres://nobody:x@127.0.0.1:1/none' };
  const { code, ok, readings, warnings } = await checked(
    await commandsWorld({ books: csv('books.csv') }, files, { ledger }),
  );
  expect({ code, ok }).toEqual({ code: 75, ok: false });
  expect(readings.map(({ driver }) => driver)).toEqual(['Rent']);
  expect(warnings).toEqual([expect.stringMatching(/^it is not known whether sync would accept it: .*127\.0\.0\.1/)]);
});
