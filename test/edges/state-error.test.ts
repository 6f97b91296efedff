/** Why a state directory cannot be used: only what no restart mends ends a daemon for good, which a unit tells by 78. */
import { mkdtempSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { stateError } from '../../src/edges/state/lock.ts';
import { translated } from '../../src/edges/state/sqlite.ts';

test.each([
  ['ENOSPC', 'state.full', 75],
  ['EDQUOT', 'state.full', 75],
  ['EIO', 'state.full', 75],
  ['ESTALE', 'state.full', 75],
  ['ETIMEDOUT', 'state.full', 75],
  ['EACCES', 'state.unwritable', 78],
  ['EROFS', 'state.unwritable', 78],
  ['ENOTDIR', 'state.unwritable', 78],
])('%s of the file system is %s and ends with %i', (code, expected, exit) => {
  const cause = Object.assign(new Error('it fails'), { code, errno: -1 });
  const error = stateError('/state', cause);
  expect(error).toMatchObject({ code: expected, exit, cause, hint: expect.any(String) });
  expect(error.message).toContain(`(${code})`);
});

test.each([
  ['SQLITE_FULL', 'state.full'],
  ['SQLITE_IOERR', 'state.full'],
  ['SQLITE_IOERR_LOCK', 'state.full'],
  ['SQLITE_PROTOCOL', 'state.full'],
  ['SQLITE_CORRUPT_INDEX', 'state.unwritable'],
  ['SQLITE_NOTADB', 'state.unwritable'],
  ['SQLITE_CANTOPEN', 'state.unwritable'],
])('%s of SQLite is %s', (code, expected) => {
  const error = stateError('/state', new Database.SqliteError('it fails', code));
  expect(error).toMatchObject({ code: expected, message: expect.stringContaining(`(${code})`) });
});

test.each([
  ['SQLITE_FULL', 'state.full', 75],
  ['SQLITE_IOERR_SHMLOCK', 'state.full', 75],
  ['SQLITE_PROTOCOL', 'state.full', 75],
  ['SQLITE_BUSY_SNAPSHOT', 'state.locked', 75],
  ['SQLITE_READONLY_DBMOVED', 'state.unwritable', 78],
])('%s of a database that is in use is %s and ends with %i', (code, expected, exit) => {
  const cause = new Database.SqliteError('it fails', code);
  const message = expect.stringMatching(/^\/state\/buffer\.db .* \(it fails\)$/) as string;
  expect(translated('/state/buffer.db', cause)).toMatchObject({
    code: expected,
    exit,
    cause,
    message,
    hint: expect.any(String),
  });
});

// SQLite says SQLITE_CORRUPT of a read that fails with EIO.
test.each([
  ['ledger.db', 'ledger.corrupt', 65],
  ['buffer.db', 'state.corrupt', 75],
])('%s that is said to be damaged is read again: only one that is not whole is %s', (name, damaged, exit) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'driver-sync-whole-')), name);
  const db = new Database(file);
  db.exec(
    `CREATE TABLE a (b TEXT); INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT printf('%0800d', i) FROM n`,
  );
  db.close();
  const cause = new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT');
  expect(translated(file, cause)).toMatchObject({ code: 'state.full', exit: 75, cause });
  truncateSync(file, 20 * 4096);
  expect(translated(file, cause)).toMatchObject({ code: damaged, exit, cause });
});
