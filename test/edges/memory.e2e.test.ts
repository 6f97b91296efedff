/** When an agent gives memory back, in a process of its own: what others do in it would count too. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openAgent } from '../../src/compose/agent.ts';
import { loadConfig } from '../../src/config/load.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/source-world.ts';

const mb = 1024 * 1024;

/** Bytes of buffers that nothing uses any more, until memory is given back. */
function leave(megabytes: number): void {
  for (let at = 0; at < megabytes; at++) Buffer.alloc(mb, 1);
}

const buffersMb = (): number => process.memoryUsage().arrayBuffers / mb;

test('memory goes back at once after a pass that left much, and after a minute where passes left little', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const file = path.join(await tempDir(), 'driver-sync.yaml');
  const source = "{ type: csv, files: [a.csv], drivers: [{ path: ['{id}'], time: '{time}', value: '{value}' }] }";
  writeFileSync(file, `destination: { url: 'http://127.0.0.1:9' }\nsources: { a: ${source} }\n`);
  const { settings } = loadConfig(file, { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  await using agent = await openAgent(settings, { command: 'run', log: memoryLog(), version: '0.0.0', env: {} });
  await agent.releaseMemory();
  const least = buffersMb();
  leave(6);
  await agent.releaseMemory();
  expect(buffersMb() - least).toBeGreaterThan(5);
  vi.advanceTimersByTime(59_000);
  // The minute begins anew.
  await agent.releaseMemory();
  vi.advanceTimersByTime(59_000);
  expect(buffersMb() - least).toBeGreaterThan(5);
  vi.advanceTimersByTime(1000);
  expect(buffersMb() - least).toBeLessThan(1);
  leave(40);
  await agent.releaseMemory();
  expect(buffersMb() - least).toBeLessThan(1);
});
