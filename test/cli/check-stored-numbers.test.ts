/** What `check` says of marks in values is about texts: a place that stores numbers has a point in each, and it groups nothing. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';
import { numberCell, workbook } from '../support/workbooks.ts';

type Field = number | string;
type Fields = readonly Field[];

const kinds: Readonly<Record<string, (file: string, fields: Fields) => Promise<void>>> = {
  jsonl: async (file, fields) => await writeFile(file, fields.map((v, at) => `${record(v, at)}\n`).join('')),
  json: async (file, fields) => await writeFile(file, `[${fields.map(record).join(',')}]`),
  xlsx: async (file, fields) => {
    const cells = fields.map((v, at) => [`2026-0${at + 1}`, typeof v === 'number' ? numberCell(String(v)) : v]);
    await writeFile(file, workbook({ sheets: [{ name: 'S', rows: [['t', 'v'], ...cells] }] }));
  },
  sqlite: (file, fields) => {
    const db = new Database(file);
    db.exec('CREATE TABLE a (t TEXT, v)');
    for (const [at, v] of fields.entries()) db.prepare('INSERT INTO a VALUES (?, ?)').run(`2026-0${at + 1}`, v);
    db.close();
    return Promise.resolve();
  },
};

function record(v: Field, at: number): string {
  return JSON.stringify({ t: `2026-0${at + 1}`, v });
}

async function notesOf(type: string, fields: Fields, value: unknown): Promise<string[]> {
  const from =
    type === 'sqlite' ? { file: 'a.sqlite', query: 'SELECT * FROM a' } : { files: [`a.${type}`], settle: '0s' };
  const { at, run } = await commandsWorld({ a: { type, ...from, drivers: [{ path: ['A'], time: '{t}', value }] } }, {});
  await kinds[type]?.(path.join(at.dir, `a.${type}`), fields);
  const { code, stdout } = await run('check');
  expect(stdout).toContain('2026-01');
  expect(code).toBe(0);
  return stdout.split('\n').filter((line) => line.includes('three digits'));
}

describe.each(Object.keys(kinds))('decimals of three digits in %s', (type) => {
  test.each<[string, unknown]>([
    ['the column', '{v}'],
    ['a filter', '{v|trim}'],
    ['a template', '-{v}'],
    ['a template with another mark', { from: '-{v}', decimal: ',' }],
  ])('are no slip where they are stored numbers: %s', async (_what, value) => {
    expect(await notesOf(type, [1.125, 2.125], value)).toEqual([]);
  });

  test('may be one in texts, also beside stored numbers', async () => {
    expect(await notesOf(type, ['1.125', '2.125'], '{v}')).toHaveLength(1);
    expect(await notesOf(type, [1.5, '1.125', '2.125'], '{v}')).toHaveLength(1);
  });
});
