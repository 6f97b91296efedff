import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AgentError } from '../../src/core/errors.ts';
import { acquireLock, ensureStateDir, lockHolder } from '../../src/edges/state/lock.ts';
import { openDatabase } from '../../src/edges/state/sqlite.ts';
import {
  monotonicMs,
  openToOthers,
  readHeartbeat,
  writeHeartbeat,
  writeWake,
} from '../../src/edges/state/state-directory.ts';
import { anybody } from '../support/anybody.ts';

const self = { command: 'run', pid: process.pid };
let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'driver-sync-lock-'));
  // For the tests that ask as another user.
  chmodSync(state, 0o755);
});

afterEach(() => {
  chmodSync(state, 0o700);
  rmSync(state, { recursive: true });
});

/** Another process that holds the state directory as `command` until it is killed. */
async function otherAgent(command: string): Promise<ChildProcess & { pid: number }> {
  const lockFile = new URL('../../src/edges/state/lock.ts', import.meta.url).href;
  const program = `
    import { acquireLock } from ${JSON.stringify(lockFile)};
    const lock = acquireLock(${JSON.stringify(state)}, { command: ${JSON.stringify(command)}, pid: process.pid });
    console.log('held');
    setInterval(() => lock, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: child.stdout }), 'line');
  return child as ChildProcess & { pid: number };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function failure(action: () => unknown): AgentError {
  try {
    action();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('expected it to fail');
}

describe('a state directory', () => {
  test('is held by one agent, which tells who it is', () => {
    using lock = acquireLock(state, self);
    expect(lockHolder(state)).toEqual({ ...self, since: expect.stringMatching(/^\d{4}-.*Z$/) });
    lock.describe({ configLoadedAt: '2026-11-20T10:00:00.000Z', configDigest: 'abc' });
    lock.describe({ configDigest: 'def' });
    expect(lockHolder(state)).toMatchObject({
      ...self,
      configLoadedAt: '2026-11-20T10:00:00.000Z',
      configDigest: 'def',
    });
  });

  test('is free again when its agent lets go, and says so', () => {
    const lock = acquireLock(state, self);
    lock.release();
    lock.release();
    expect(lockHolder(state)).toBeUndefined();
    expect(existsSync(join(state, 'agent.json'))).toBe(false);
    acquireLock(state, self).release();
  });

  test('refuses a second agent of the same process', () => {
    using _lock = acquireLock(state, self);
    expect(failure(() => acquireLock(state, self)).code).toBe('state.locked');
    expect(lockHolder(state)?.pid).toBe(process.pid);
  });

  test('refuses a second agent, names the first, and is free the moment that one is killed', async () => {
    const other = await otherAgent('run');
    expect(lockHolder(state)).toMatchObject({ pid: other.pid, command: 'run' });

    const refusal = failure(() => acquireLock(state, self));
    expect(refusal).toMatchObject({
      code: 'state.locked',
      exit: 75,
      hint: `kill -USR2 ${other.pid} makes it run a pass now; "driver-sync sync --wake" does so and waits for its end`,
    });
    expect(refusal.message).toBe(`another agent (pid ${other.pid}, driver-sync run) holds ${state}`);
    // The refused one has not touched what the holder says of itself.
    expect(lockHolder(state)?.pid).toBe(other.pid);

    await kill(other);
    expect(existsSync(join(state, 'agent.json'))).toBe(true);
    expect(lockHolder(state)).toBeUndefined();
    using _lock = acquireLock(state, self);
    expect(lockHolder(state)?.pid).toBe(process.pid);
  });

  test('does not advise to signal a sync, which a signal would end', async () => {
    const other = await otherAgent('sync');
    const refusal = failure(() => acquireLock(state, self));
    expect(refusal.message).toContain(`pid ${other.pid}, driver-sync sync`);
    expect(refusal.hint).toContain('wait until it ends');
    expect(refusal.hint).not.toContain(`kill -USR2 ${other.pid}`);
    await kill(other);
  });

  test('is not held because a killed agent left its name, even if that pid is alive again', () => {
    acquireLock(state, self).release();
    writeFileSync(
      join(state, 'agent.json'),
      JSON.stringify({ pid: process.pid, command: 'run', since: '2026-01-01T00:00:00Z' }),
    );
    expect(lockHolder(state)).toBeUndefined();
    using _lock = acquireLock(state, { command: 'sync', pid: process.pid });
    expect(lockHolder(state)).toMatchObject({ command: 'sync' });
  });

  test('that is held is known as such even where the name of its agent is lost', () => {
    using _lock = acquireLock(state, self);
    for (const text of ['{"pid":', '{"pid":0,"command":"run","since":""}', '[]']) {
      writeFileSync(join(state, 'agent.json'), text);
      expect(lockHolder(state)).toEqual({ pid: undefined, command: undefined, since: undefined });
    }
    expect(failure(() => acquireLock(state, self)).message).toBe(`another agent holds ${state}`);
  });
});

describe('asking who holds a state directory', () => {
  test('changes nothing in it', () => {
    expect(lockHolder(state)).toBeUndefined();
    expect(existsSync(join(state, 'lock'))).toBe(false);
    expect(lockHolder(join(state, 'missing'))).toBeUndefined();
    expect(existsSync(join(state, 'missing'))).toBe(false);
  });

  test('needs no right to write there', async () => {
    acquireLock(state, self).release();
    chmodSync(state, 0o500);
    chmodSync(join(state, 'lock'), 0o400);
    expect(lockHolder(state)).toBeUndefined();
    chmodSync(state, 0o700);
    chmodSync(join(state, 'lock'), 0o600);
    const other = await otherAgent('run');
    chmodSync(state, 0o500);
    expect(lockHolder(state)).toMatchObject({ pid: other.pid });
    await kill(other);
    expect(lockHolder(state)).toBeUndefined();
  });
});

describe('making sure of a state directory', () => {
  test('creates it with its parents, for this user alone', () => {
    const path = join(state, 'a', 'b');
    ensureStateDir(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    ensureStateDir(path);
  });

  test('refuses a file in its place, and says what to do', () => {
    const path = join(state, 'file');
    writeFileSync(path, '');
    for (const place of [path, join(path, 'below')]) {
      expect(failure(() => ensureStateDir(place))).toMatchObject({
        code: 'state.unwritable',
        exit: 78,
        hint: expect.stringContaining('file stands'),
      });
    }
  });

  test('refuses one that this user may not write', () => {
    const path = join(state, 'foreign');
    mkdirSync(path, { mode: 0o555 });
    expect(asAnybody(`ensureStateDir(${JSON.stringify(path)})`)).toEqual({
      code: 'state.unwritable',
      message: `the state directory ${path} cannot be used (EACCES)`,
    });
  });

  test('refuses a lock that this user may only read, since nobody else would notice it', () => {
    acquireLock(state, self).release();
    chmodSync(join(state, 'lock'), 0o444);
    chmodSync(state, 0o777);
    const acquire = `acquireLock(${JSON.stringify(state)}, { command: 'run', pid: process.pid })`;
    expect(asAnybody(acquire)).toMatchObject({ code: 'state.unwritable' });
  });
});

describe('files of the state directory', () => {
  const umask = process.umask();
  afterEach(() => void process.umask(umask));

  test('are for their user alone, whatever the umask and whatever they were', () => {
    process.umask(0);
    const file = join(state, 'ledger.db');
    writeFileSync(join(state, 'lock'), '', { mode: 0o644 });
    writeFileSync(file, '', { mode: 0o666 });
    using _lock = acquireLock(state, self);
    const databases = [file, join(state, 'buffer.db')].map((one) => openDatabase(one, { synchronous: 'NORMAL' }));
    for (const database of databases) database.exec('CREATE TABLE t (x)');
    writeHeartbeat(state, { untilMs: 1 });
    writeWake(state);
    const modes = Object.fromEntries(
      readdirSync(state).map((name) => [name, statSync(join(state, name)).mode & 0o777]),
    );
    for (const database of databases) database.close();
    expect(modes).toMatchObject({
      'ledger.db-wal': 0o600,
      'ledger.db-shm': 0o600,
      'buffer.db': 0o600,
      heartbeat: 0o600,
      wake: 0o600,
    });
    expect(new Set(Object.values(modes))).toEqual(new Set([0o600]));
  });

  test('are never reached through a link', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'driver-sync-elsewhere-'));
    const target = join(elsewhere, 'mine');
    writeFileSync(target, 'mine');
    for (const name of ['heartbeat', 'wake', 'agent.json.new']) symlinkSync(target, join(state, name));
    expect(readHeartbeat(state)).toBeUndefined();
    using _lock = acquireLock(state, self);
    writeHeartbeat(state, { untilMs: 17 });
    writeWake(state);
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(readHeartbeat(state)).toMatchObject({ untilMs: 17 });
    rmSync(elsewhere, { recursive: true });
  });

  test('a heartbeat goes by the time since the machine was started, where the clock was set since', () => {
    for (const untilMs of [1, Date.now() + 1e12]) {
      writeHeartbeat(state, { untilMs, monotonicUntilMs: monotonicMs() + 60_000 });
      const leftMs = (readHeartbeat(state)?.untilMs ?? 0) - Date.now();
      expect([leftMs > 30_000, leftMs <= 60_000]).toEqual([true, true]);
    }
  });

  test('a heartbeat takes the place of the one before, however much it had to say', () => {
    const broken = { at: '2026-01-01T00:00:00.000Z', exit: 75, reason: 'ü'.repeat(900), hint: 'free some space' };
    writeHeartbeat(state, { untilMs: 1, broken });
    const { size } = statSync(join(state, 'heartbeat'));
    expect(readHeartbeat(state)?.broken).toMatchObject({
      at: broken.at,
      exit: 75,
      reason: expect.stringMatching(/^ü+$/),
    });
    writeHeartbeat(state, { untilMs: 2 });
    expect(readHeartbeat(state)).toEqual({ untilMs: 2, broken: undefined });
    expect(statSync(join(state, 'heartbeat')).size).toBe(size);
  });

  test('a directory that others may use is named, with what they may', () => {
    chmodSync(state, 0o700);
    expect(openToOthers(state)).toBeUndefined();
    chmodSync(state, 0o755);
    expect(openToOthers(state)).toContain(`can be seen by other users (mode 0755): chmod 700 ${realpathSync(state)}`);
    chmodSync(state, 0o770);
    expect(openToOthers(state)).toContain('can be changed by other users (mode 0770)');
  });
});

test('a file in the place of the lock that is something else is named, and left alone', () => {
  const path = join(state, 'lock');
  writeFileSync(path, 'not a database, but longer than the header of one: '.repeat(20));
  const before = readFileSync(path, 'utf8');
  expect(failure(() => acquireLock(state, self))).toMatchObject({
    code: 'state.unwritable',
    hint: 'remove it while no agent runs',
  });
  expect(readFileSync(path, 'utf8')).toBe(before);
});

/**
 * How the lock refuses a user who is not root. A process of its own, since access(2) asks for the real user, who cannot be
 * changed back; it loads its modules first, since that user may not be let into this checkout.
 */
function asAnybody(call: string): unknown {
  const lock = new URL('../../src/edges/state/lock.ts', import.meta.url).href;
  const script = `import { acquireLock, ensureStateDir } from ${JSON.stringify(lock)};
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${anybody}); process.setuid(${anybody}); }
    try { ${call}; console.log('{}'); } catch ({ code, message }) { console.log(JSON.stringify({ code, message })); }`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}
