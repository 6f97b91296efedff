/** Slips in values, as commands and the log of the daemon tell them. */
import { expect, test } from 'vitest';
import { PassLog } from '../../src/cli/pass-log.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { memoryLog } from '../support/memory-log.ts';
import { accepted, changed, named, timesTen, twoYears, valueFile, valueSource } from '../support/value-world.ts';

const before = twoYears([...named('Sales', 12), ...named('Costs', 12)]);
const slipped = changed(
  before,
  (value) => timesTen(value, 3),
  (name) => name.startsWith('Sales'),
);
const sentence = '288 of 288 values of Sales are 1000 times what they were';
const line = 'another unit: Sales, 288 of 288 values, 1000 times\n';

/** The commands after a read that was accepted, and before one that has a slip. */
async function slip(values: 'hold' | 'warn') {
  const config = { guard: { values } };
  const commands = await commandsWorld({ sales: valueSource }, { 'sales.csv': valueFile(before) }, config);
  await commands.run('sync');
  await commands.at.write('sales.csv', valueFile(slipped));
  return commands;
}

test('check says what sync would hold, with the finding and three examples', async () => {
  const { run } = await slip('hold');
  const { code, stdout } = await run('check');
  expect(code).toBe(4);
  expect(stdout).toContain(`  sync would not accept it: ${sentence}\n`);
  expect(stdout).toContain(`  ${line}`);
  expect(stdout.match(/^ {4}such as: sales-s0\d {2}2025-12 {2}from /gm)).toHaveLength(3);
  const { json } = await run('check', '--json');
  expect(json()).toMatchObject({ sources: [{ findings: [{ kind: 'factor', group: ['Sales'], factor: '1000' }] }] });
});

test('check says what sync would only warn of', async () => {
  const { run } = await slip('warn');
  const { code, stdout } = await run('check');
  expect(code).toBe(0);
  expect(stdout).toContain(`  note: ${sentence}\n`);
  expect(stdout).toContain(`  ${line}`);
  const { json } = await run('check', '--json');
  expect(json()).toMatchObject({
    ok: true,
    sources: [{ refusals: [], warnings: [sentence], findings: [{ kind: 'factor' }] }],
  });
});

test.each(['hold', 'warn'] as const)(
  'plan, markdown, sync and status show the finding under guard.values: %s',
  async (values) => {
    const { run } = await slip(values);
    for (const command of ['plan', 'sync', 'status']) {
      const { stdout } = await run(command);
      expect(stdout).toContain(`  ${line}`);
      expect(stdout.match(/^ {4}such as: sales-s0\d {2}2025-12 {2}from /gm)).toHaveLength(3);
      const heading =
        values === 'hold' ? `sales: held: ${sentence}\n` : 'sales: accepted, and its values look like a slip:\n';
      expect(stdout).toContain(heading);
      if (command !== 'plan') continue;
      const markdown = (await run('plan', '--format', 'markdown')).stdout;
      expect(markdown).toContain('- another unit: <code>Sales</code>, 288 of 288 values, 1000 times\n');
      expect(markdown).toMatch(/^\| <code>sales-s01<\/code> \| <code>2025-12<\/code> \| \d+\.\d+ \| \d+ \|$/m);
    }
  },
);

test('status says nothing of it any more once a read without it was accepted', async () => {
  const { at, run } = await slip('hold');
  await run('sync');
  await at.write('sales.csv', valueFile(before));
  await run('sync');
  expect((await run('status')).stdout).not.toContain('such as');
});

test('text from data stays on its line', async () => {
  const name = 'Sales / S\u001b[31m | <b>';
  const odd = twoYears([name, 'Costs / C01']);
  const commands = await commandsWorld({ sales: valueSource }, { 'sales.csv': valueFile(odd) });
  await commands.run('sync');
  await commands.at.write(
    'sales.csv',
    valueFile(
      changed(
        odd,
        (value) => timesTen(value, 3),
        (one) => one === name,
      ),
    ),
  );
  const { stdout } = await commands.run('plan', '--format', 'markdown');
  expect(stdout).toContain('- another unit: <code>Sales / S');
  for (const markup of ['\u001b', '<b>']) expect(stdout).not.toContain(markup);
});

test('the daemon logs a hold once, and an accepted slip, with the findings as fields', async () => {
  const log = memoryLog();
  const passLog = new PassLog(log);
  await using w = await accepted(before);
  await w.export(slipped);
  const held = await w.sync();
  passLog.note(held);
  passLog.note(await w.sync());
  const findings = [{ kind: 'factor', group: ['Sales'], points: 288, of: 288, factor: '1000' }];
  const about = (message: string) => log.lines.filter((logged) => logged.message === message);
  expect(about('source held')).toMatchObject([
    { level: 'warn', fields: { source: 'sales', reason: sentence, digest: held.sources[0]?.digest, findings } },
    { level: 'debug' },
  ]);
  await w.approve(held.sources[0]?.digest ?? '');
  passLog.note(await w.sync());
  expect(about('source is well again')).toMatchObject([{ level: 'info' }]);
  expect(about('accepted values look like a slip')).toMatchObject([
    { level: 'warn', fields: { source: 'sales', findings } },
  ]);
});
