import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { openMemoryCopy } from '../../src/edges/state/memory-copy.ts';
import { asAnybody } from '../support/anybody.ts';

/** A database in WAL mode that a killed process left: some of it is in the database, some in its log. */
function leftBehind(): { file: string; db: Database.Database; leave: () => string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-copy-'));
  const file = path.join(dir, 'live.db');
  const db = new Database(file);
  onTestFinished(() => {
    db.close();
    rmSync(dir, { recursive: true });
  });
  db.pragma('journal_mode = WAL');
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
  return {
    file,
    db,
    leave() {
      const left = path.join(dir, 'left.db');
      for (const suffix of ['', '-wal']) copyFileSync(file + suffix, left + suffix);
      return left;
    },
  };
}

const rows = (db: Database.Database): unknown[] => db.prepare('SELECT * FROM t').all();

function add(db: Database.Database, count: number): void {
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  db.transaction(() => {
    for (let index = 0; index < count; index++) insert.run(`${index} ${'x'.repeat(500)}`);
  })();
}

test('a copy in memory has what was committed, in the database and in its log', () => {
  const { db, leave } = leftBehind();
  add(db, 100);
  db.pragma('wal_checkpoint(TRUNCATE)');
  add(db, 300);
  db.exec('UPDATE t SET text = upper(text) WHERE id % 3 = 0');
  const copy = openMemoryCopy(leave())!;
  expect(rows(copy)).toEqual(rows(db));
  expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('what an older log left behind a newer one is not read', () => {
  const { db, leave } = leftBehind();
  add(db, 300);
  db.pragma('wal_checkpoint(PASSIVE)');
  db.exec('DELETE FROM t WHERE id > 5');
  const copy = openMemoryCopy(leave())!;
  expect(rows(copy)).toEqual(rows(db));
});

test('a log that was cut within a transaction has all those before it', () => {
  const { db, leave } = leftBehind();
  add(db, 3);
  const committed = rows(db);
  add(db, 300);
  const left = leave();
  truncateSync(`${left}-wal`, 20_000);
  expect(rows(openMemoryCopy(left)!)).toEqual(committed);
});

test('a log without content, or of something else, adds nothing', () => {
  const { db, leave } = leftBehind();
  add(db, 3);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const left = leave();
  expect(rows(openMemoryCopy(left)!)).toEqual(rows(db));
  writeFileSync(`${left}-wal`, Buffer.alloc(5000, 7));
  expect(rows(openMemoryCopy(left)!)).toEqual(rows(db));
});

test('a copy in memory cannot be written, since that would be lost', () => {
  const { db, leave } = leftBehind();
  add(db, 1);
  const copy = openMemoryCopy(leave())!;
  expect(() => copy.exec('DELETE FROM t')).toThrow('readonly');
});

test('a buffer that its agent closed well is copied to elsewhere where nothing can be written beside it', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-copy-'));
  const elsewhere = mkdtempSync(path.join(tmpdir(), 'driver-sync-copy-'));
  onTestFinished(() => {
    for (const one of [dir, elsewhere]) rmSync(one, { recursive: true });
  });
  const file = path.join(dir, 'buffer.db');
  const written = openBuffer(file, 'write');
  written.setState({ id: 'one' });
  written.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  chmodSync(file, 0o444);
  chmodSync(dir, 0o555);
  chmodSync(elsewhere, 0o777);
  const copy = path.join(elsewhere, 'buffer.db');
  await asAnybody(() => {
    const buffer = openBuffer(file, 'copy');
    buffer.copyTo(copy);
    // Still a copy that nobody writes to.
    expect(() => buffer.setState({ id: 'another' })).toThrow('readonly');
    buffer.close();
  });
  const copied = openBuffer(copy, 'write');
  expect(copied.state()).toMatchObject({ id: 'one' });
  copied.close();
});
