/** The state directory missing, of a newer agent or in disorder: what the person sees. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { translating } from '../../src/edges/state/sqlite.ts';
import { asideIn } from '../support/damage.ts';
import { file, servedWorld, world } from '../support/state-world.ts';

describe('a state of a newer driver-sync', () => {
  const commands = [
    ['sync'],
    ['plan'],
    ['status'],
    ['history'],
    ['explain', 'north'],
    ['diff', '1', '1'],
    ['rollback', '1'],
  ];

  test.each(['buffer', 'ledger'] as const)('in the %s is refused with 78 and left alone', async (name) => {
    const one = await servedWorld();
    const database = new Database(file(one, name));
    database.pragma('user_version = 99');
    database.close();
    one.write('sales.csv', { north: '1.75', south: '2' });
    for (const args of commands) {
      expect(await one.run(...args), args.join(' ')).toMatchObject({
        exit: 78,
        json: { error: { code: 'state.newer' } },
      });
    }
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
    const after = new Database(file(one, name), { readonly: true });
    expect(after.pragma('user_version', { simple: true })).toBe(99);
    after.close();
  });
});

describe('a state of an older driver-sync, which no agent of this version has brought up to date', () => {
  const looking = [['status'], ['explain', 'north'], ['rejects'], ['forget', 'sales', '--yes']];
  const asking = [['history'], ['approve', 'abcdef0123'], ['rollback', '1'], ['plan']];

  test.each([
    ['buffer', looking],
    ['ledger', [...looking, ...asking]],
  ] as const)('in the %s is 78, and the command says who brings it up to date', async (name, commands) => {
    const one = await servedWorld();
    const database = new Database(file(one, name));
    database.pragma('user_version = 1');
    database.close();
    for (const args of commands) {
      expect(await one.run(...args), args.join(' ')).toMatchObject({
        exit: 78,
        json: { error: { code: 'state.older', hint: expect.stringContaining('"sync"') } },
      });
    }
    expect(asideIn(one)).toEqual([]);
  });
});

test('a ledger that is empty is no older one: the command says what goes on from it', async () => {
  const one = await servedWorld();
  for (const suffix of ['-wal', '-shm']) rmSync(file(one, 'ledger') + suffix, { force: true });
  writeFileSync(file(one, 'ledger'), '');
  for (const args of [['status'], ['plan'], ['approve', 'abcdef0123'], ['verify']]) {
    expect(await one.run(...args), args.join(' ')).toMatchObject({
      exit: 78,
      json: {
        error: {
          code: 'state.missing',
          message: `${file(one, 'ledger')} is empty`,
          hint: expect.stringContaining('backup'),
        },
      },
    });
  }
});

describe('a state directory', () => {
  const looking = [['status'], ['history'], ['diff', '1', '2'], ['explain', 'north'], ['rejects']];
  const deciding = [
    ['approve', 'abcdef0123'],
    ['forget', 'sales', '--yes'],
    ['rollback', '1'],
  ];

  test.each([...looking, ...deciding])('that is missing: %s says where it looked, and makes none', async (...args) => {
    const one = await world();
    const { exit, json } = await one.run<{ error: { message: string; hint: string } }>(...args);
    expect(exit).toBe(78);
    expect(json.error.message).toContain(one.state);
    expect(json.error.hint).not.toBe('');
    expect(existsSync(one.state)).toBe(false);
  });

  test('is made for its user alone, with all directories in it', async () => {
    const one = await servedWorld();
    const modes = [one.state, path.join(one.state, 'archive')].map((dir) => statSync(dir).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700]);
  });

  test.each([['sync'], ['plan'], ...looking])('that is a file: %s is 78 and the file stays', async (...args) => {
    const one = await world();
    writeFileSync(one.state, 'notes');
    const { exit, json } = await one.run<{ error: { message: string } }>(...args);
    expect(exit).toBe(78);
    expect(json.error.message).toContain(one.state);
    expect(readFileSync(one.state, 'utf8')).toBe('notes');
  });

  test('with what a killed plan and a killed sync left behind is cleaned by the next sync', async () => {
    const one = await servedWorld();
    // No process has this number.
    const scratch = path.join(one.state, 'scratch-4194305');
    mkdirSync(scratch);
    writeFileSync(path.join(scratch, 'buffer.db'), 'x');
    const alive = `scratch-${process.ppid}`;
    mkdirSync(path.join(one.state, alive));
    writeFileSync(path.join(one.state, 'archive', 'draft-4194305'), 'x');
    await one.run('sync', '--force');
    expect(readdirSync(one.state).filter((name) => name.startsWith('scratch'))).toEqual([alive]);
    expect(readdirSync(path.join(one.state, 'archive')).filter((name) => name.startsWith('draft'))).toEqual([]);
  });
});

test('a database that another program writes for longer than is waited is no bug: it is tried again', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'driver-sync-held-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const name = path.join(folder, 'ledger.db');
  using other = closing(new Database(name));
  other.database.exec('CREATE TABLE a (b); BEGIN IMMEDIATE');
  using own = closing(new Database(name, { timeout: 1 }));
  const error: unknown = (() => {
    try {
      return translating(name, () => own.database.exec('INSERT INTO a VALUES (1)'));
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ code: 'state.locked', exit: 75 });
});

function closing(database: Database.Database): { readonly database: Database.Database } & Disposable {
  return { database, [Symbol.dispose]: () => void database.close() };
}
