/** What supervisors and Prometheus are told. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/app/ask/status-report.ts';
import { openState } from '../../src/compose/state.ts';
import { loadConfig } from '../../src/config/load.ts';
import { metricFamilies } from '../../src/status/metrics.ts';
import { manyDrivers, threeSources, twoPushes } from '../support/commands-world.ts';
import { memoryLog } from '../support/memory-log.ts';
import { statusWorld } from '../support/status-world.ts';

test('/livez is 200 while the loop moves, and says until when it was to move', async () => {
  const page = await statusWorld(await twoPushes());
  expect(await page.ask('/livez')).toMatchObject({ status: 200, body: 'the loop moves\n' });
  page.agent.silentUntilMs = Date.parse('2026-03-01T00:00:00Z');
  expect(await page.ask('/livez')).toMatchObject({ status: 503, body: expect.stringContaining('2026-03-01T00:00:00') });
  expect(await page.json('/api/status')).toMatchObject({ stalledSince: '2026-03-01T00:00:00.000Z' });
  expect((await page.ask('/')).body).toContain('The loop of the agent was to move by 2026-03-01T00:00:00.000Z');
  page.agent.silentUntilMs = undefined;
  expect((await page.ask('/livez')).status).toBe(503);
});

test('/readyz is 200 once a pass has ended, and 503 with the reason while the last one broke', async () => {
  const page = await statusWorld(await twoPushes());
  expect((await page.ask('/readyz')).status).toBe(200);
  page.agent.notes = { lastMs: undefined, readAtMs: {} };
  expect(await page.ask('/readyz')).toMatchObject({ status: 503, body: expect.stringContaining('no pass has ended') });
  page.agent.notes = { lastMs: 5, readAtMs: {} };
  page.agent.broken = 'the disk is full';
  expect(await page.ask('/readyz')).toMatchObject({ status: 503, body: 'the last pass broke: the disk is full\n' });
});

/** Values of metrics by name and labels. */
function valuesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('the metrics say what the last pass, the pushes and every source came to', async () => {
  const commands = await threeSources();
  await commands.run('sync');
  await commands.at.write('revenue.csv', manyDrivers(5));
  await commands.at.remove('costs.csv');
  commands.receiver.answer(400);
  await commands.run('sync', '--force');
  const page = await statusWorld(commands);
  page.agent.notes = { lastMs: 2500, readAtMs: { revenue: 1_772_323_200_000 } };
  const { headers, body } = await page.ask('/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const values = valuesOf(body);
  expect(values).toMatchObject({
    [`driver_sync_build_info{version="1.2.3",node="${process.versions.node}"}`]: 1,
    'driver_sync_pushes_total{outcome="acknowledged"}': 1,
    'driver_sync_pushes_total{outcome="refused"}': 1,
    'driver_sync_pushes_total{outcome="unknown"}': 0,
    driver_sync_pass_duration_seconds: 2.5,
    'driver_sync_source_state{source="revenue",state="held"}': 1,
    'driver_sync_source_state{source="revenue",state="accepted"}': 0,
    'driver_sync_source_state{source="staff",state="unchanged"}': 1,
    'driver_sync_source_rows{source="staff"}': 1,
    'driver_sync_source_rejects{source="staff"}': 0,
    'driver_sync_source_last_read_timestamp_seconds{source="revenue"}': 1_772_323_200,
    'driver_sync_held{source="revenue"}': 1,
    'driver_sync_held{source="staff"}': 0,
    driver_sync_notice_failures_total: 0,
    driver_sync_snapshot_drivers: 22,
    driver_sync_snapshot_points: 23,
  });
  for (const name of ['last_pass', 'last_acknowledged', 'next_push']) {
    expect(values[`driver_sync_${name}_timestamp_seconds`], name).toBeGreaterThan(1_700_000_000);
  }
  expect(values).toHaveProperty('driver_sync_push_duration_seconds');
  expect(values['driver_sync_snapshot_bytes']).toBeGreaterThan(100);
});

test('a push that a crash cut short took nobody knows how long, and hides not how long the one before took', async () => {
  const commands = await twoPushes();
  const page = await statusWorld(commands);
  const before = valuesOf((await page.ask('/metrics')).body);
  {
    const { settings } = loadConfig(path.join(commands.at.dir, 'driver-sync.yaml'), { env: {}, secrets: 'required' });
    await using state = await openState(settings!, memoryLog());
    const { pushes } = state.deps.ledger;
    const last = await pushes.last();
    await pushes.begin({ ...last!, atMs: Date.now() - 3_600_000 });
    await pushes.endOrphans(Date.now());
  }
  const values = valuesOf((await page.ask('/metrics')).body);
  expect(values['driver_sync_pushes_total{outcome="unknown"}']).toBe(1);
  expect(values['driver_sync_push_duration_seconds']).toBe(before['driver_sync_push_duration_seconds']);
});

test('a push that is under way counts once it has ended, and hides not how long the one before took', async () => {
  const commands = await threeSources();
  await commands.run('sync');
  const page = await statusWorld(commands);
  const before = valuesOf((await page.ask('/metrics')).body);
  commands.receiver.answer('hold');
  const sync = commands.run('sync', '--force');
  await commands.receiver.post(2);
  const meanwhile = valuesOf((await page.ask('/metrics')).body);
  const report = await page.json<StatusReport>('/api/status');
  const { body } = await page.ask('/');
  commands.receiver.release(200);
  await sync;
  for (const name of [
    'pushes_total{outcome="unknown"}',
    'pushes_total{outcome="acknowledged"}',
    'push_duration_seconds',
  ]) {
    expect(meanwhile[`driver_sync_${name}`], name).toBe(before[`driver_sync_${name}`]);
  }
  expect(report.lastPush).toMatchObject({ id: 2, outcome: 'unknown', detail: 'no answer yet' });
  expect(report.lastPush).not.toHaveProperty('endedAt');
  expect(body).toContain('Push 2 has no answer yet');
  expect(valuesOf((await page.ask('/metrics')).body)['driver_sync_pushes_total{outcome="acknowledged"}']).toBe(2);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test.skipIf(!hasPromtool && process.env['CI'] !== 'true')('promtool finds nothing wrong with the metrics', async () => {
  const commands = await threeSources();
  await commands.run('sync');
  const { body } = await (await statusWorld(commands)).ask('/metrics');
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
  expect({ code: checked.status, said: checked.stdout + checked.stderr }).toEqual({ code: 0, said: '' });
});

const docs = path.resolve(import.meta.dirname, '../../docs');

test.skipIf(!hasPromtool && process.env['CI'] !== 'true')('promtool accepts the alert rules', () => {
  const checked = spawnSync('promtool', ['check', 'rules', path.join(docs, 'alerts.yaml')], { encoding: 'utf8' });
  expect({ code: checked.status, said: checked.stderr }).toEqual({ code: 0, said: '' });
});

test('every metric is in the documents, and no other one', () => {
  const table = readFileSync(path.join(docs, 'STATUS.md'), 'utf8').split('| metric | is |')[1]?.split('\n\n')[0] ?? '';
  const rows = table.split('\n').map((line) => line.split(' | ')[0] ?? '');
  const named = rows.flatMap((names) => [...names.matchAll(/`(\w+)/g)].map(([, name]) => name));
  expect(named).toHaveLength(Object.keys(metricFamilies).length);
  expect(new Set(named)).toEqual(new Set(Object.keys(metricFamilies)));
});

test('the alert rules and the dashboard name only metrics that are there', () => {
  const known = new Set(Object.keys(metricFamilies).map((name) => `driver_sync_${name}`));
  for (const file of ['alerts.yaml', 'grafana.json']) {
    const named = readFileSync(path.join(docs, file), 'utf8').match(/\bdriver_sync_\w+/g) ?? [];
    expect(named.length, file).toBeGreaterThan(5);
    expect(
      named.filter((name) => !known.has(name)),
      file,
    ).toEqual([]);
  }
});

test('before the first pass there are no metrics of what nobody knows', async () => {
  const page = await statusWorld(await threeSources());
  expect((await page.ask('/metrics')).status).toBe(503);
});
