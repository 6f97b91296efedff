/** A database that tells an earlier time than before: a replica that lags, or a restored backup. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { answerVersion, regression } from '../../src/core/guard/answer-version.ts';
import { cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';
import { type TestWorld, world } from '../support/world.ts';

const config = {
  sources: {
    books: {
      type: 'sqlite',
      file: 'books.db',
      query: 'SELECT id, month, amount FROM entries',
      changed: 'SELECT max(updated), count(*) FROM entries',
      drivers: [{ path: ['{id}'], time: '{month}', value: '{amount}' }],
    },
  },
};

/** The state of the books at a time. */
function setBooks(w: TestWorld, updated: string, amount: string): void {
  const database = new Database(path.join(w.dir, 'books.db'));
  database.exec('CREATE TABLE IF NOT EXISTS entries (id TEXT, month TEXT, amount TEXT, updated TEXT)');
  database.exec(`DELETE FROM entries; INSERT INTO entries VALUES ('a', '2026-01', '${amount}', '${updated}')`);
  database.close();
}

describe('an older state', () => {
  test('is held, and what was accepted stays; a newer one is accepted again', async () => {
    await using w = await world({ config });
    setBooks(w, '2026-03-01 10:00:00', '1');
    await w.sync();
    setBooks(w, '2026-03-02 10:00:00', '2');
    expect((await w.sync()).sources[0]).toMatchObject({ state: 'accepted' });
    setBooks(w, '2026-03-01 10:00:00', '1');
    expect(await w.sync()).toMatchObject({
      exit: 4,
      sources: [
        {
          state: 'held',
          reason: 'its query "changed" went back from 2026-03-02 10:00:00 to 2026-03-01 10:00:00',
        },
      ],
    });
    expect(w.points()).toEqual({ a: { '2026-01': '2' } });
    setBooks(w, '2026-03-03 10:00:00', '3');
    expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ state: 'accepted' }] });
    expect(w.points()).toEqual({ a: { '2026-01': '3' } });
  });

  test('is accepted once it is approved', async () => {
    await using w = await world({ config });
    setBooks(w, '2026-03-02 10:00:00', '2');
    await w.sync();
    setBooks(w, '2026-03-01 10:00:00', '1');
    const [source] = (await w.sync()).sources;
    await w.approve(source!.digest!);
    expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ state: 'accepted' }] });
    expect(w.points()).toEqual({ a: { '2026-01': '1' } });
  });
});

test('only times go back: a count goes down with every row that is deleted', () => {
  const version = (...answer: string[]): string => answerVersion([answer]);
  expect(regression(version('2026-03-01', '9'), version('2026-03-01', '8'))).toBeUndefined();
  expect(regression(version('2026-03-01', '9'), version('2026-02-28', '10'))).toEqual({
    from: '2026-03-01',
    to: '2026-02-28',
  });
  expect(regression(version('2026-03-01 10:00:00.5'), version('2026-03-01 10:00:00'))).toBeDefined();
  expect(regression('another version', version('2026-03-01'))).toBeUndefined();
});

describe(`a server (${postgresName})`, () => {
  test.skipIf(cannotPostgres)(
    'a server that lacks just the newest months is held, as a replica that lags',
    async () => {
      await using server = await postgresServer();
      await server.run('CREATE TABLE entries (id text, month text, amount text)');
      const months = (count: number): string =>
        Array.from({ length: count }, (_, at) => `('a', '2026-${String(at + 1).padStart(2, '0')}', '${at}')`).join(
          ', ',
        );
      await server.run(`INSERT INTO entries VALUES ${months(12)}`);
      const { drivers } = config.sources.books;
      const books = { type: 'postgres', url: server.url(), query: 'SELECT id, month, amount FROM entries', drivers };
      await using w = await world({ config: { sources: { books } } });
      await w.sync();
      await server.run("DELETE FROM entries WHERE month = '2026-12'");
      expect(await w.sync()).toMatchObject({
        exit: 4,
        sources: [{ state: 'held', reason: 'it only drops the newest months and would delete 1 point' }],
      });
      await server.run('DELETE FROM entries; INSERT INTO entries VALUES ' + months(12));
      expect(await w.sync()).toMatchObject({ exit: 0 });
      await server.run("DELETE FROM entries WHERE month = '2026-05'");
      expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ state: 'accepted' }] });
    },
  );
});
