/** What monitoring asks: `status`, its exit codes, and its words for what is wrong. */
import { mkdirSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SeenFile } from '../../src/edges/shared/seen.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { openLedger } from '../../src/edges/state/ledger.ts';
import { commandAt } from '../support/command-line.ts';
import { hours, rows } from '../support/daemon-world.ts';
import { type Place, csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';

/** Makes the last pass older than it is. */
async function agePass(where: Place, ms: number): Promise<void> {
  const ledger = openLedger(path.join(where.state, 'ledger.db'), 'write');
  const pass = (await ledger.state()).lastPass!;
  await ledger.setState({ lastPass: { ...pass, at: new Date(Date.now() - ms).toISOString() } });
  await ledger.close();
}

test('--exit-code is the code of the last pass, or 75 where that is older than --max-age', async () => {
  await using service = await openReceiver();
  await using where = await place(
    { destination: { url: service.url }, sources: { sales: csv('*.csv') } },
    { 'a.csv': rows('a,2026-01,1') },
  );
  const code = async (...args: readonly string[]): Promise<number | undefined> =>
    (await where.command('status', '--exit-code', ...args)).code;
  service.answer(400);
  expect((await commandAt(where, 'sync')).code).toBe(5);
  expect(await code()).toBe(5);
  expect((await commandAt(where, 'sync')).code).toBe(0);
  expect(await code('--max-age', '26h')).toBe(0);
  await agePass(where, 27 * hours);
  expect(await code()).toBe(0);
  expect(await code('--max-age', '26h')).toBe(75);
  expect(await code('--max-age', 'soon')).toBe(64);
  // Without --exit-code it only tells.
  expect((await commandAt(where, 'status')).code).toBe(0);
});

test('says where it looked where there is no state, and makes none', async () => {
  await using where = await place({ destination: { url: 'http://127.0.0.1:9' }, sources: { sales: csv('*.csv') } }, {});
  const done = await commandAt(where, 'status', '--json');
  expect(done.code).toBe(78);
  expect(done.json()).toMatchObject({
    exit: 78,
    error: { code: 'state.missing', message: expect.stringContaining(where.state) },
  });
  const live = await commandAt(where, 'status', '--live');
  expect(live.code).not.toBe(0);
});

test('says that the ledger alone is gone, and what becomes of the data', async () => {
  await using service = await openReceiver();
  await using where = await place(
    { destination: { url: service.url }, sources: { sales: csv('*.csv') } },
    { 'a.csv': rows('a,2026-01,1') },
  );
  await commandAt(where, 'sync');
  await rm(path.join(where.state, 'ledger.db'));
  const asked = await commandAt(where, 'status');
  expect(asked.code).toBe(78);
  expect(asked.stderr).toMatch(/ledger\.db is gone, and with it what was pushed when\n {2}put it back from a backup;/);
  await where.remove('a.csv');
  expect((await commandAt(where, 'sync')).code).toBe(3);
  expect(service.posts.map(({ body }) => body)).toEqual([service.posts[0]?.body, service.posts[0]?.body]);
});

test('of an agent that only ever shared its ledger no command says that it is gone', async () => {
  const ledger = { url: 'postgres://nobody@127.0.0.1:1/none' };
  const config = { destination: { url: 'http://127.0.0.1:9' }, ledger, sources: { sales: csv('*.csv') } };
  await using where = await place(config, {});
  mkdirSync(where.state);
  openBuffer(path.join(where.state, 'buffer.db'), 'write').close();
  new SeenFile(where.state).set({ term: 1 });
  const takeOver = await commandAt(where, 'ledger', 'take-over');
  const verify = await commandAt(where, 'verify', '--state', where.state);
  for (const { code, stderr } of [takeOver, verify]) {
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /shares its ledger and has none of its own\n {2}nothing is missing, and there is nothing to/,
    );
  }
});

test('needs no secret', async () => {
  await using service = await openReceiver();
  const config = { destination: { url: service.url, token: '${DRIVERS_TOKEN}' }, sources: { sales: csv('*.csv') } };
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1') });
  expect((await commandAt(where, 'sync')).code).toBe(78);
  await where.configure({ ...config, destination: { url: service.url } });
  expect((await commandAt(where, 'sync')).code).toBe(0);
  await where.configure(config);
  expect((await commandAt(where, 'status', '--json')).json()).toMatchObject({ lastAcknowledged: { id: 1 } });
});

test('tells of a push that did not arrive, and that the daemon will try again', async () => {
  await using service = await openReceiver();
  await using where = await place(
    { destination: { url: service.url }, schedule: '15 2 1 1 *', sources: { sales: csv('*.csv', { poll: '1h' }) } },
    { 'a.csv': rows('a,2026-01,1') },
  );
  service.answer({ status: 503, headers: { 'retry-after': '600' }, text: 'closed for the night' });
  const daemon = await where.daemon();
  await daemon.says(/unreachable/);
  const status = (await commandAt(where, 'status', '--json')).json<{ nextPush: string }>();
  expect(status).toMatchObject({
    lastPass: { outcome: 'unreachable', exit: 75 },
    lastPush: { id: 1, outcome: 'unreachable' },
  });
  expect(status).not.toHaveProperty('lastAcknowledged');
  const inMs = Date.parse(status.nextPush) - Date.now();
  expect(inMs).toBeGreaterThan(0.14 * hours);
  expect(inMs).toBeLessThan(0.17 * hours);
  expect((await commandAt(where, 'status')).stdout).toContain('closed for the night');
});

test('sync, check, status and the daemon warn of a state directory that is open to others', async () => {
  await using service = await openReceiver();
  const config = { destination: { url: service.url }, sources: { sales: csv('*.csv') } };
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1') });
  expect((await commandAt(where, 'sync')).stderr).not.toContain('the state directory');
  await chmod(where.state, 0o755);
  const warning = `the state directory ${where.state} can be seen by other users (mode 0755): chmod 700 `;
  for (const command of ['sync', 'check', 'status']) {
    expect((await commandAt(where, command, '--json')).stderr, command).toContain(warning);
  }
  const daemon = await where.daemon();
  expect(daemon.stderr).toContain(warning);
});

test('status --live needs no valid config while a daemon runs', async () => {
  await using service = await openReceiver();
  const config = { destination: { url: service.url }, sources: { sales: csv('*.csv') } };
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1') });
  const daemon = await where.daemon();
  await daemon.says(/"pushed"/);
  await where.configure({ ...config, scedule: 'daily' });
  expect((await commandAt(where, 'status', '--live')).code).toBe(0);
});
