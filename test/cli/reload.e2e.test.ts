/** A signal to end while SIGHUP looks at what another config would change. */
import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../support/daemon-scene.ts';
import { csv } from '../support/process.ts';

test('SIGTERM ends a daemon at once also while SIGHUP waits for a source that does not answer', async () => {
  const asked: ServerResponse[] = [];
  const exports = createServer((_request, response) => void asked.push(response)).listen(0, '127.0.0.1');
  await once(exports, 'listening');
  onTestFinished(() => exports.closeAllConnections());
  const { port } = exports.address() as AddressInfo;
  await using s = await scene();
  const url = `http://127.0.0.1:${port}/costs.csv`;
  const costs = { ...csv(''), type: 'http', format: 'csv', files: undefined, settle: undefined, url, timeout: '10m' };
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.configure({ ...s.config, sources: { sales: csv('*.csv'), costs } });
  daemon.kill('SIGHUP');
  await expect.poll(() => asked).toHaveLength(1);
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
  expect(daemon.stderr).not.toContain('the config is loaded again');
});
