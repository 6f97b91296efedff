/** A database that answers, by `changed`, that it is older than it was: a restored backup, or a replica that lags. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type TestWorld, sourceOf, world } from '../support/world.ts';

const sources = {
  books: {
    type: 'sqlite',
    file: 'books.db',
    changed: 'SELECT max(at) FROM entries',
    query: 'SELECT id, time, value FROM entries',
    drivers: [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }],
  },
};

/** Each row is written at a time of its own. */
function write(w: TestWorld, rows: Readonly<Record<string, readonly [value: string, at: string]>>): void {
  const database = new Database(path.join(w.dir, 'books.db'));
  database.exec('DROP TABLE IF EXISTS entries; CREATE TABLE entries (id TEXT, time TEXT, value TEXT, at TEXT)');
  const insert = database.prepare("INSERT INTO entries VALUES (?, '2026-01', ?, ?)");
  for (const [id, [value, at]] of Object.entries(rows)) insert.run(id, value, at);
  database.close();
}

const first = { A: ['1', '2026-03-01 10:00:00'], B: ['2', '2026-03-01 11:00:00'] } as const;

async function accepted(): Promise<TestWorld> {
  const w = await world({ config: { sources } });
  write(w, first);
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  return w;
}

test('is held where its numbers differ, and the hold names both times', async () => {
  await using w = await accepted();
  write(w, { A: ['1', '2026-03-01 10:00:00'], B: ['9', '2026-03-01 09:00:00'] });
  expect(sourceOf(await w.sync(), 'books')).toMatchObject({
    state: 'held',
    reason: 'its query "changed" went back from 2026-03-01 11:00:00 to 2026-03-01 10:00:00',
  });
  expect(w.points()).toMatchObject({ B: { '2026-01': '2' } });
});

test('changes nothing where its numbers are the same', async () => {
  await using w = await accepted();
  write(w, { A: ['1', '2026-03-01 10:00:00'], B: ['2', '2026-03-01 10:30:00'] });
  expect(sourceOf(await w.sync(), 'books')).toMatchObject({ state: 'unchanged' });
});

test('passes where it says that it is newer', async () => {
  await using w = await accepted();
  write(w, { ...first, B: ['9', '2026-03-01 12:00:00'] });
  expect(sourceOf(await w.sync(), 'books')).toMatchObject({ state: 'accepted' });
  expect(w.points()).toMatchObject({ B: { '2026-01': '9' } });
});
