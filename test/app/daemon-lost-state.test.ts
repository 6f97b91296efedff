/** A state directory that is removed or replaced while a daemon has it open: what is written then nobody will ever read. */
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readHeartbeat } from '../../src/edges/state/state-directory.ts';
import { acquireLock } from '../../src/edges/state/lock.ts';
import { type DaemonWorld, daemonWorld, hours, minutes, rows } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';

const stateOf = (w: DaemonWorld): string => path.join(w.dir, '.driver-sync');

/** One push is acknowledged, and another is due every half hour. */
async function pushing(): Promise<DaemonWorld> {
  const w = await daemonWorld({ schedule: '30 * * * *', sources: { sales: csv('*.csv', { poll: '1m' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  expect(w.service.posts).toHaveLength(1);
  await w.write('a.csv', rows('a,2026-01,22'));
  return w;
}

/** The words of the log, each line once. */
const said = (w: DaemonWorld, message: string): readonly unknown[] =>
  w.log.lines.filter((line) => line.message === message).map(({ fields }) => fields['error']);

async function replaced(name: string, state: string): Promise<void> {
  await copyFile(path.join(state, name), path.join(state, 'copy'));
  await rename(path.join(state, 'copy'), path.join(state, name));
}

test.each<[string, (state: string) => Promise<void>, string]>([
  ['the directory is removed', (state) => rm(state, { recursive: true }), 'lock in STATE was removed'],
  ['the lock is removed', (state) => rm(path.join(state, 'lock')), 'lock in STATE was removed'],
  ['the lock is replaced', (state) => replaced('lock', state), 'lock in STATE was replaced'],
  ['the ledger is removed', (state) => rm(path.join(state, 'ledger.db')), 'ledger.db in STATE was removed'],
  ['the ledger is replaced', (state) => replaced('ledger.db', state), 'ledger.db in STATE was replaced'],
  [
    'an empty directory takes its place',
    async (state) => {
      await rename(state, `${state}.old`);
      await mkdir(state);
    },
    'lock in STATE was removed',
  ],
])('where %s, each pass breaks, and nothing is pushed', async (_name, lose, why) => {
  await using w = await pushing();
  await lose(stateOf(w));
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(1);
  expect(w.broken()).toBeGreaterThan(1);
  const message = `${why.replace('STATE', stateOf(w))} while this agent had it open`;
  expect(new Set(said(w, 'the pass broke and is tried again'))).toEqual(new Set([message]));
  // Beside the lock of another agent there may be its heartbeat.
  const heartbeat = said(w, 'the heartbeat cannot be written');
  const broken = readHeartbeat(stateOf(w))?.broken?.reason;
  expect([heartbeat, broken]).toEqual(why.startsWith('ledger') ? [[], message] : [[message], broken]);
});

test('what was moved aside and put back is gone on from', async () => {
  await using w = await pushing();
  const state = stateOf(w);
  await rename(state, `${state}.aside`);
  await w.wait(10 * minutes);
  await rename(`${state}.aside`, state);
  await w.wait(1 * hours);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '22' } });
});

test('where the buffer is removed, passes push on, and the next start rebuilds it', async () => {
  await using w = await pushing();
  await rm(path.join(stateOf(w), 'buffer.db'));
  await w.wait(1 * hours);
  expect([w.broken(), pointsOf(w.service.posts[1]!)]).toEqual([0, { a: { '2026-01': '22' } }]);
  await w.stop();
  await w.start();
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wait(1 * hours);
  expect([w.broken(), pointsOf(w.service.posts[2]!)]).toEqual([0, { a: { '2026-01': '333' } }]);
});

test('an agent that lost its lock leaves alone what the next one says of itself', async () => {
  await using w = await pushing();
  const state = stateOf(w);
  await rm(path.join(state, 'lock'));
  using _next = acquireLock(state, { command: 'run', pid: process.pid });
  const agentFile = path.join(state, 'agent.json');
  const next = readFileSync(agentFile, 'utf8');
  await w.wait(10 * minutes);
  await w.stop();
  expect(readFileSync(agentFile, 'utf8')).toBe(next);
  expect(w.service.posts).toHaveLength(1);
});
