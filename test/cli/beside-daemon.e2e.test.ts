/** Commands beside a daemon whose variables are not set where they run. */
import { expect, onTestFinished, test } from 'vitest';
import { commandAt } from '../support/command-line.ts';
import { one, two } from '../support/daemon-scene.ts';
import { type Place, type Running, csv, place } from '../support/process.ts';
import { type Receiver, openReceiver } from '../support/receiver.ts';

interface Beside {
  readonly at: Place;
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
  return { at, daemon, service };
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
