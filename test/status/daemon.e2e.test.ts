/** The status page of a daemon that is a process: its thread, its port, and what a reload does to them. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type StatusPage, openStatusPage } from '../../src/compose/status-page.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { StatusSettings } from '../../src/core/settings.ts';
import { asAnybody } from '../support/anybody.ts';
import { commandAt } from '../support/command-line.ts';
import { twoPushes } from '../support/commands-world.ts';
import { memoryLog } from '../support/memory-log.ts';
import { portOf, scene, two } from '../support/daemon-scene.ts';
import { pointsOf } from '../support/receiver.ts';
import { askAt } from '../support/status-world.ts';

const unbroken = { broken: undefined, lockFile: [] };

async function usedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('a daemon serves what "status --json" prints, is ready after its first pass, and tells edits of its config', async () => {
  await using s = await scene({ status: '127.0.0.1:0' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  const port = portOf(daemon);
  const bodyOf = async (address: string): Promise<string> => (await askAt(port, address)).body;
  await expect.poll(async () => (await askAt(port, '/readyz')).status).toBe(200);
  expect((await askAt(port, '/livez')).status).toBe(200);
  const served = JSON.parse(await bodyOf('/api/status')) as Record<string, unknown>;
  expect(served).toEqual((await s.place.command('status', '--json')).json());
  expect(served).toMatchObject({ agent: { pid: daemon.pid }, configDiffers: false, lastAcknowledged: { id: 1 } });
  expect(await bodyOf('/metrics')).toMatch(/^driver_sync_pass_duration_seconds 0?\.?\d/m);
  await s.place.configure({ ...s.config, status: '127.0.0.1:0', refresh: '30h' });
  expect(JSON.parse(await bodyOf('/api/status'))).toMatchObject({ configDiffers: true });
  daemon.kill('SIGTERM');
  expect((await daemon.exit).code).toBe(0);
});

test('a daemon whose lock is removed says that its passes break, and why, on the page and to whoever asks', async () => {
  await using s = await scene({ status: '127.0.0.1:0' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.remove('.driver-sync/lock');
  daemon.kill('SIGUSR2');
  await daemon.says(/the pass broke/);
  const port = portOf(daemon);
  const why = 'lock in .*was removed while this agent had it open';
  await expect.poll(async () => (await askAt(port, '/readyz')).status).toBe(503);
  expect((await askAt(port, '/readyz')).body).toMatch(new RegExp(`^the last pass broke: ${why}`));
  expect((await askAt(port, '/')).body).toMatch(new RegExp(`The last pass broke: ${why}`));
  const { lastPass } = JSON.parse((await askAt(port, '/api/status')).body) as Record<string, unknown>;
  expect(lastPass).toMatchObject({ outcome: 'broken', exit: 78, reason: expect.stringMatching(why) });
  const { stdout } = await commandAt(s.place, 'status');
  expect(stdout).toMatch(
    new RegExp(
      `^agent +the lock of the last one, pid ${daemon.pid}, .*was removed: if it still runs, its passes break`,
    ),
  );
  expect(stdout).not.toContain('all is well');
  // A supervisor that starts it anew has it go on from what is there.
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(75);
  expect(await askAt(port, '/livez')).toMatchObject({ status: 503, body: expect.stringMatching(why) });
});

test('a daemon whose ledger is removed is live, and not ready', async () => {
  await using s = await scene({ status: '127.0.0.1:0' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.remove('.driver-sync/ledger.db');
  daemon.kill('SIGUSR2');
  await daemon.says(/the pass broke/);
  const port = portOf(daemon);
  await expect.poll(async () => (await askAt(port, '/readyz')).status).toBe(503);
  expect((await askAt(port, '/livez')).status).toBe(200);
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(0);
});

test('SIGHUP while the config is away keeps the old one and says why, and the page goes on', async () => {
  await using s = await scene({ status: '127.0.0.1:0' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.remove('driver-sync.yaml');
  const { body, status } = await askAt(portOf(daemon), '/api/status');
  expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ configDiffers: true })]);
  daemon.kill('SIGHUP');
  await daemon.says(/driver-sync\.yaml:1:1 the config cannot be read \(ENOENT\)/);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  expect(pointsOf(await s.service.post(2))).toHaveProperty('b');
});

test('a port that another program has ends the start with 78 and what to do', async () => {
  const port = await usedPort();
  await using s = await scene({ status: `127.0.0.1:${port}` });
  const { code, stderr } = await s.place.command('run');
  expect(code).toBe(78);
  expect(stderr).toContain(`the status page cannot listen at 127.0.0.1:${port}: another program has this port`);
  expect(stderr).toContain('name another port in "status"');
  expect(s.service.posts).toHaveLength(0);
  await s.place.configure({ ...s.config, destination: 'emulator', status: `127.0.0.1:${port}` });
  const beside = await s.place.command('run');
  // An address that nobody serves any more is not shown.
  expect([beside.code, beside.stdout]).toEqual([78, '']);
});

/** On some machines any user may take any port. */
const canTakeAnyPort =
  process.platform !== 'linux' || Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')) <= 81;

test.skipIf(canTakeAnyPort)('a port that only root may use is refused, with what to do', async () => {
  const refused = asAnybody(() => openedAt('127.0.0.1', 81));
  await expect(refused).rejects.toMatchObject({
    code: 'status.address',
    message: 'the status page cannot listen at 127.0.0.1:81: only root may use this port',
    hint: 'name a port above 1023 in "status", and put a proxy before it',
  });
});

test('an address that the machine does not have is refused, with what to do', async () => {
  await expect(openedAt('203.0.113.7', 9464)).rejects.toMatchObject({
    code: 'status.address',
    message: 'the status page cannot listen at 203.0.113.7:9464: this machine has no such address',
    hint: 'name one that it has in "status", or 127.0.0.1',
  });
});

/** A page at this address, over some state. */
async function openedAt(host: string, port: number): Promise<StatusPage> {
  const commands = await twoPushes();
  const { settings } = loadConfig(path.join(commands.at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
  const status = { host, port, tokenFile: undefined, hosts: [] };
  const options = { log: memoryLog(), version: '1.2.3', fileDigest: () => undefined, agent: unbroken };
  return await openStatusPage({ ...settings!, status }, options);
}

test('a reload moves the page, switches it on and off, and leaves it where it cannot move', async () => {
  await using s = await scene({ status: '127.0.0.1:0' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  const first = portOf(daemon);
  const used = await usedPort();
  await s.place.configure({ ...s.config, status: `127.0.0.1:${used}` });
  daemon.kill('SIGHUP');
  await daemon.says(new RegExp(`127.0.0.1:${used}: another program has this port; the old one stays`));
  expect((await askAt(first, '/livez')).status).toBe(200);
  await s.place.configure({ ...s.config, status: 'off' });
  daemon.kill('SIGHUP');
  await expect
    .poll(() => askAt(first, '/livez').catch((error: Error & { code?: string }) => error.code))
    .toBe('ECONNREFUSED');
  await s.place.configure({ ...s.config, status: '127.0.0.1:0' });
  daemon.kill('SIGHUP');
  await daemon.says(/"the status page listens"/);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  await s.service.post(2);
});

/** A page that is open to the network without a token, and what asks it, also by another address of loopback. */
async function openPage() {
  const { at } = await twoPushes();
  const { settings } = loadConfig(path.join(at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  const tokenFile = path.join(at.dir, 'token');
  await writeFile(tokenFile, 'status-token');
  const log = memoryLog();
  const open = { host: '0.0.0.0', port: 0, tokenFile: undefined, hosts: [] };
  const options = { log, version: '1.2.3', fileDigest: () => settings.digest, agent: unbroken };
  const page = await openStatusPage({ ...settings, status: open }, options);
  onTestFinished(() => page[Symbol.asyncDispose]());
  const listening = log.lines.find(({ message }) => message === 'the status page listens');
  const port = Number(new URL(String(listening?.fields['address'])).port);
  const bearer = { authorization: 'Bearer status-token' };
  return {
    port,
    tokenFile,
    last: () => log.lines.at(-1)?.message,
    reconfigure: (status: Partial<StatusSettings>) =>
      page.reconfigure({ ...settings, status: { ...open, port, ...status } }, 'wanted'),
    ask: async (how: 'with' | 'without') =>
      (await askAt(port, '/api/status', { headers: how === 'with' ? bearer : {} })).status,
    answersElsewhere: () =>
      fetch(`http://127.0.0.2:${port}/livez`).then(
        () => true,
        () => false,
      ),
  };
}

test('a reload that narrows the address of the page, with the same port, closes it to all others and asks for the token', async () => {
  const page = await openPage();
  expect([await page.ask('without'), await page.answersElsewhere()]).toEqual([200, true]);
  await page.reconfigure({ host: '127.0.0.1', tokenFile: page.tokenFile });
  expect(page.last()).toBe('the status page listens');
  expect([await page.ask('without'), await page.ask('with')]).toEqual([401, 200]);
  expect(await page.answersElsewhere()).toBe(false);
  await page.reconfigure({ tokenFile: page.tokenFile });
  expect([await page.ask('without'), await page.answersElsewhere()]).toEqual([401, true]);
});

test('a page that stays where it was asks for the token of the new config, and goes on to ask for that of the old one', async () => {
  const page = await openPage();
  const elsewhere = [{ host: '203.0.113.7' }, { host: '127.0.0.1', port: await usedPort() }] as const;
  for (const wanted of elsewhere) {
    await page.reconfigure({ ...wanted, tokenFile: page.tokenFile });
    expect(page.last()).toMatch(/the status page cannot listen at .*; the old one stays$/);
    expect([await page.ask('without'), await page.ask('with')]).toEqual([401, 200]);
    await page.reconfigure(wanted);
    expect([await page.ask('without'), await page.ask('with')]).toEqual([401, 200]);
  }
});

test('a page that dies is logged and started again, with what it knew', async () => {
  const commands = await twoPushes();
  const { settings } = loadConfig(path.join(commands.at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  const log = memoryLog();
  const listening = { host: '127.0.0.1', port: 0, tokenFile: undefined, hosts: [] };
  const told = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => told.mockRestore());
  await using page = await openStatusPage(
    { ...settings, status: listening },
    { log, version: '1.2.3', fileDigest: () => settings.digest, agent: unbroken },
  );
  const portIn = (line: { fields: Readonly<Record<string, unknown>> } | undefined): number =>
    Number(/:(\d+)\/$/.exec(String(line?.fields['address']))?.[1]);
  const first = portIn(log.lines.find(({ message }) => message === 'the status page listens'));
  page.passed({ at: new Date().toISOString(), outcome: 'unchanged', exit: 0, sources: [] }, 1234);
  expect((await askAt(first, '/metrics')).body).toContain('driver_sync_pass_duration_seconds 1.234');
  const [thread] = told.mock.contexts;
  await (thread as Worker).terminate();
  await expect.poll(() => log.lines.map(({ message }) => message)).toContain('the status page listens again');
  const again = portIn(log.lines.findLast(({ message }) => message === 'the status page listens again'));
  expect((await askAt(again, '/metrics')).body).toContain('driver_sync_pass_duration_seconds 1.234');
  expect(log.lines).toContainEqual(
    expect.objectContaining({ level: 'error', message: 'the status page has ended and is started again' }),
  );
  await page.reconfigure({ ...settings, status: undefined }, 'wanted');
  expect(log.lines.at(-1)).toMatchObject({
    level: 'info',
    message: expect.stringContaining('the status page is closed'),
  });
  await expect(askAt(again, '/livez')).rejects.toThrow('ECONNREFUSED');
});

test('a config that nobody can look at leaves the page as it is, and says that it differs', async () => {
  const commands = await twoPushes();
  const config = path.join(commands.at.dir, 'driver-sync.yaml');
  const { settings } = loadConfig(config, { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  const log = memoryLog();
  const status = { host: '127.0.0.1', port: 0, tokenFile: undefined, hosts: [] };
  const fileDigest = (): string | undefined => loadConfig(config, { env: {}, secrets: 'required' }).settings?.digest;
  await using _page = await openStatusPage(
    { ...settings, status },
    { log, version: '1.2.3', fileDigest, agent: unbroken },
  );
  await rm(config);
  await symlink('driver-sync.yaml', config);
  const listening = log.lines.find(({ message }) => message === 'the status page listens');
  const answer = await fetch(`${String(listening?.fields['address'])}api/status`);
  expect(await answer.json()).toMatchObject({ configDiffers: true, lastAcknowledged: { id: 2 } });
});

test('an open page is told of a pass that broke', async () => {
  const commands = await twoPushes();
  const { settings } = loadConfig(path.join(commands.at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  const log = memoryLog();
  const status = { host: '127.0.0.1', port: 0, tokenFile: undefined, hosts: [] };
  const options = { log, version: '1.2.3', fileDigest: () => settings.digest, agent: unbroken };
  await using page = await openStatusPage({ ...settings, status }, options);
  const listening = log.lines.find(({ message }) => message === 'the status page listens');
  const events = await fetch(`${String(listening?.fields['address'])}events`);
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain('retry:');
  page.broke();
  expect((await reader?.read())?.value).toContain('event: news');
  await reader?.cancel();
});
