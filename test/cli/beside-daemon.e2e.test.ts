/** Commands beside a daemon whose variables are not set where they run. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { commandAt } from '../support/command-line.ts';
import { one, two } from '../support/daemon-scene.ts';
import { type Place, type Running, csv, place } from '../support/process.ts';
import { type Receiver, openReceiver } from '../support/receiver.ts';

interface Beside {
  readonly at: Place;
  readonly config: object;
  readonly daemon: Running;
  readonly service: Receiver;
}

/** A daemon with a token and a hook from its environment, which this process does not have. It has pushed once. */
async function daemonWithVariables(): Promise<Beside> {
  const service = await openReceiver();
  const config = {
    destination: { url: '${SERVICE}', token: '${TOKEN}' },
    notify: [{ url: '${HOOK}' }],
    schedule: '15 2 1 1 *',
    sources: { sales: csv('*.csv', { poll: '1h' }) },
  };
  const env = { SERVICE: service.url, TOKEN: 'token', HOOK: 'http://127.0.0.1:1/' };
  const at = await place(config, { 'sales.csv': one }, env);
  onTestFinished(async () => {
    await at[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });
  const daemon = await at.daemon();
  await daemon.says(/"pushed"/);
  return { at, config, daemon, service };
}

test('rollback and sync --wake need no variable that the daemon has: it carries them out', async () => {
  const { at, daemon, service } = await daemonWithVariables();
  await at.write('sales.csv', two);
  const woken = await commandAt(at, 'sync', '--wake', '--json');
  expect({ code: woken.code, ...woken.json() }).toMatchObject({ code: 0, outcome: 'acknowledged', push: { id: 2 } });
  expect(await commandAt(at, 'rollback', '1')).toMatchObject({ code: 0 });
  expect(service.posts.map(({ headers }) => headers['authorization'])).toEqual(Array(3).fill('Bearer token'));
  expect(service.posts[2]?.body).toBe(service.posts[0]?.body);
  daemon.kill('SIGTERM');
  await daemon.exit;
  for (const [command, option] of [
    ['rollback', '1'],
    ['sync', '--wake'],
  ] as const) {
    const { code, stderr } = await commandAt(at, command, option);
    expect({ command, code }).toEqual({ command, code: 78 });
    for (const name of ['SERVICE', 'TOKEN', 'HOOK']) expect(stderr).toContain(`${name} is not set`);
  }
  expect(service.posts).toHaveLength(3);
});

test('sync --wake ends with 75 once a daemon that was stopped has not moved for too long', async () => {
  const { at, daemon } = await daemonWithVariables();
  daemon.kill('SIGSTOP');
  await at.write('.driver-sync/agent.json', await beganBefore(at));
  await at.write('.driver-sync/heartbeat', String(Date.now() + 1000));
  const { code, stdout, stderr } = await commandAt(at, 'sync', '--wake');
  expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
  expect(stderr).toMatch(/^woke the agent with pid \d+; waiting for the end of its pass, for 15 minutes at most\n/);
  expect(stderr).toMatch(/makes no pass: its loop was to move by .*Z and has not\n {2}"driver-sync status" says/);
  const again = await commandAt(at, 'sync', '--wake');
  expect(again).toMatchObject({ code: 75, stderr: expect.not.stringContaining('woke') });
});

test('status and plan tell whether the file is another one than the daemon has loaded, without its variables', async () => {
  const { at, config } = await daemonWithVariables();
  const said = async (): Promise<{ status: unknown; plan: string }> => ({
    status: (await commandAt(at, 'status', '--json')).json()['configDiffers'],
    plan: (await commandAt(at, 'plan')).stderr,
  });
  const alike = { status: false, plan: '' };
  const other = {
    status: true,
    plan: 'note: the running agent has another config loaded; this plan is of the file\n',
  };
  expect(await said()).toEqual(alike);
  await at.configure({ ...config, lastClose: '2025-01' });
  expect(await said()).toEqual(other);
  await at.configure({ ...config, notify: [{ url: '${OTHER_HOOK}' }] });
  expect(await said()).toEqual(other);
  await at.write('driver-sync.yaml', `# a comment\n${stringify(config)}`);
  expect(await said()).toEqual(alike);
});

/** What a daemon says of itself, as if it had begun an hour ago: one that has just begun may not have moved yet. */
async function beganBefore({ state }: Place): Promise<string> {
  const said = JSON.parse(await readFile(path.join(state, 'agent.json'), 'utf8')) as object;
  return `${JSON.stringify({ ...said, since: new Date(Date.now() - 3_600_000).toISOString() })}\n`;
}
