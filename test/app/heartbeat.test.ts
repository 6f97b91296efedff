/** The heartbeat says until when the loop may be silent; `status --live` goes by it. */
import { expect, test } from 'vitest';
import { pushAllowanceMs } from '../../src/app/loop/daemon.ts';
import { openAgent } from '../../src/compose/agent.ts';
import { heartbeatOf } from '../../src/compose/state.ts';
import { loadConfig } from '../../src/config/load.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/source-world.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

test('a step that may take longer than the one before says so at once, and an answer has ten timeouts', async () => {
  const dir = await tempDir();
  const file = path.join(dir, 'driver-sync.yaml');
  const drivers = "[{ path: ['{id}'], time: '{time}', value: '{value}' }]";
  const source = `{ type: csv, files: [a.csv], drivers: ${drivers} }`;
  writeFileSync(file, `destination: { url: 'http://127.0.0.1:9', timeout: 60s }\nsources: { a: ${source} }\n`);
  const { settings } = loadConfig(file, { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error('the config is not valid');
  await using agent = await openAgent(settings, { command: 'run', log: memoryLog(), version: '0.0.0', env: {} });
  agent.beat(60_000);
  const before = heartbeatOf(settings)?.untilMs ?? 0;
  agent.beat(pushAllowanceMs(settings));
  expect((heartbeatOf(settings)?.untilMs ?? 0) - before).toBeGreaterThan(2 * 10 * 60_000);
  agent.beat(60_000);
  expect(heartbeatOf(settings)?.untilMs).toBeGreaterThan(before);
});
