/** Text whose columns stand at fixed places. */
import { describe, expect, test } from 'vitest';
import { calm, fileOf, readWhole, unreadable } from '../support/source-world.ts';
import { failureOf } from '../support/web-world.ts';

const columns = { account: '1-6', date: '7-14', amount: '15-24' };
const line = (account: string, date: string, amount: string): string =>
  `${account.padEnd(6)}${date}${amount.padStart(10)}`;

async function rowsOf(text: string | Uint8Array, keys: object = {}): Promise<readonly (readonly string[])[]> {
  return (await readWhole(await fileOf('fixed', text, { name: 'a.txt', columns, ...keys }))).rows;
}

describe('columns at fixed places', () => {
  const two = `${line('4711', '20260131', '1.50')}\n${line('8', '20260228', '-7')}\n`;
  const read = [
    ['4711', '20260131', '1.50'],
    ['8', '20260228', '-7'],
  ];

  test.each([
    ['LF', two],
    ['CR LF', two.replaceAll('\n', '\r\n')],
    ['CR', two.replaceAll('\n', '\r')],
    ['blank lines, and none at the end', `\n${two.replace('\n', '\n   \n').trimEnd()}`],
  ])('are cut out of lines that end with %s', async (_end, text) => {
    expect(await rowsOf(text)).toEqual(read);
  });

  test('have lines above, below and between them', async () => {
    const text = `REPORT OF JANUARY\nacct  date\n# made today\n${two}TOTAL      -5.50\n`;
    expect(await rowsOf(text, { skipUntil: '^4', footer: 1, comment: '#' })).toEqual(read);
    expect(await rowsOf(text, { skipRows: 2, footer: 1, comment: '#' })).toEqual(read);
  });

  test('have no line in the footer that is blank where the columns are', async () => {
    const text = `${two}TOTAL      -5.50\n${' '.repeat(60)}page 1\n`;
    expect(await rowsOf(text, { footer: 1 })).toEqual(read);
  });

  test('may overlap, leave places out, and reach behind the end of a line', async () => {
    const keys = { columns: { year: '7-10', date: '7-14', sign: '20', more: '30-40' } };
    expect(await rowsOf(two, keys)).toEqual([
      ['2026', '20260131', '', ''],
      ['2026', '20260228', '', ''],
    ]);
  });

  test('have the order of the line, whatever they are called and wherever the config names them', async () => {
    const keys = { columns: { amount: '15-24', account: '1-6', 2026: '7-14' } };
    expect(await rowsOf(two, keys)).toEqual(read);
  });

  test('are counted in characters, whatever their bytes', async () => {
    expect(await rowsOf('Käse😀12\n', { columns: { a: '1-5', b: '6-7' } })).toEqual([['Käse😀', '12']]);
    const latin = Buffer.from('Käse 12\n', 'latin1');
    expect(await rowsOf(latin, { columns: { a: '1-5', b: '6-7' }, encoding: 'windows-1252' })).toEqual([
      ['Käse', '12'],
    ]);
  });

  test('are read over as many batches as it takes, with the line of each row', async () => {
    const source = await fileOf('fixed', two.repeat(20_000), { name: 'a.txt', columns });
    const whole = await readWhole(source);
    expect(whole.rows).toHaveLength(40_000);
    expect(whole.batches).toBeGreaterThan(1);
    const [part] = await source.parts(calm);
    let before = 0;
    for await (const batch of source.rows(part!, calm)) {
      expect(batch.line?.(0)).toBe(before + 1);
      before += batch.count;
    }
    expect(before).toBe(40_000);
  });
});

describe('a sign beside a number or a fraction behind it, where no column has it', () => {
  const faultsOf = async (text: string, keys: object): Promise<readonly (string | undefined)[]> => {
    const source = await fileOf('fixed', text, { name: 'a.txt', ...keys });
    const [part] = await source.parts(calm);
    const found: (string | undefined)[] = [];
    for await (const batch of source.rows(part!, calm)) {
      for (let at = 0; at < batch.count; at++) {
        const faults = batch.columns.map((_name, column) => batch.fault?.(at, column));
        found.push(faults.find((fault) => fault !== undefined));
      }
    }
    return found;
  };
  const narrow = { columns: { account: '1-4', amount: '6-14' } };

  test.each([
    ['4711 22,100.00-', '"-" stands directly behind "22,100.00", at place 15'],
    ['4711 22,100.00-  7', '"-" stands directly behind "22,100.00", at place 15'],
    ['4711 22,100.00\u2212', '"\u2212" stands directly behind'],
    ['4711(22,100.00)', '")" stands directly behind'],
    ['471 -22,100.00', '"-" stands directly before "22,100.00", at place 5'],
    [
      '4711  22,100.00',
      '"." stands directly behind "22,100", at place 13',
      { columns: { account: '1-4', amount: '6-12' } },
    ],
    [
      '4711  22100,00-',
      '"," stands directly behind "22100", at place 12',
      { columns: { account: '1-4', amount: '6-11' } },
    ],
  ])('makes %j a row that cannot be read', async (text, why, keys: object = narrow) => {
    const [first, second] = await faultsOf(`4711    1\n${text}\n`, keys);
    expect(first).toBeUndefined();
    expect(second).toContain(why);
  });

  test.each([
    ['a column that is wide enough', { columns: { account: '1-4', amount: '6-15' } }, '4711 22,100.00-'],
    ['a column of its own', { columns: { amount: '6-14', sign: '15' } }, '4711 22,100.00-'],
    ['the next field', narrow, '4711 22,100.00-5'],
    ['a word', { columns: { name: '1-4', amount: '6-14' } }, 'ACME- 1,200.00'],
    ['a blank between', narrow, '4711 22,100.0 -'],
    ['a fraction of its own', { columns: { euros: '1-5', cents: '7-8' } }, '22100.50'],
    ['a point behind it', { columns: { euros: '1-5' } }, '22100. and so on'],
    ['a date that is left out in part', { columns: { year: '1-4' } }, '2026-01-31'],
  ])('is no matter with %s', async (_what, keys, text) => {
    expect(await faultsOf(`${text}\n`, keys)).toEqual([undefined]);
  });
});

test('a file of lines is not read where it is empty, or its beginning never comes', async () => {
  const failing = async (text: string, keys: object = {}) =>
    await failureOf(await fileOf('fixed', text, { name: 'a.txt', columns, ...keys }));
  expect(await failing('')).toMatchObject(unreadable('a.txt is empty (0 bytes)'));
  expect(await failing('x\n', { skipUntil: '^DATA' })).toMatchObject(
    unreadable('a.txt: no line matches skipUntil: ^DATA'),
  );
});

test.each(['', '0-3', '5-4', 'a', '1-2-3', '1-999999'])('%j is no place of a column', async (place) => {
  await expect(fileOf('fixed', '', { name: 'a.txt', columns: { a: place } })).rejects.toThrow(
    'expected the first and the last character of the column',
  );
});

test('two columns of one name are a mistake of the config, whatever blanks are around them', async () => {
  const columnsOf = async (names: object) => await fileOf('fixed', '', { name: 'a.txt', columns: names });
  await expect(columnsOf({ ' account': '1-6', account: '7-14' })).rejects.toThrow('is the name of another column');
  await expect(columnsOf({ ' ': '1-6' })).rejects.toThrow('a column without a name');
});
