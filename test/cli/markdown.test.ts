/** Changes as Markdown, for the comment of a pull request. */
import { expect, test } from 'vitest';
import { commandsWorld, manyDrivers, threeSources, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const markdown = ['plan', '--format', 'markdown'] as const;
const mark = '<!-- driver-sync -->\n';

test('nothing would change: said only where everything was read and nothing is held', async () => {
  const { at, run } = await threeSources();
  await run('sync');
  const whole = await run(...markdown);
  expect([whole.code, whole.stdout]).toEqual([
    0,
    `${mark}### driver-sync: nothing would change\n\ndrivers: none; points: none\n`,
  ]);
  await at.remove('costs.csv');
  const unread = await run(...markdown);
  expect(unread.code).toBe(3);
  expect(unread.stdout).toContain(
    `### driver-sync: this preview is not whole\n\n> [!CAUTION]\n> **<code>costs</code> was not read.**`,
  );
  await at.write('revenue.csv', manyDrivers(5));
  const held = await run(...markdown);
  expect(held.code).toBe(4);
  expect(held.stdout).toContain('**<code>revenue</code> is held.**');
  expect(held.stdout).toMatch(/driver-sync approve [0-9a-f]{12}/);
  expect(held.stdout).toContain('#### <code>revenue</code>: 15 points change, if it is approved');
  for (const { stdout } of [unread, held]) expect(stdout).not.toContain('nothing would change');
});

test('the largest changes and the totals are tables', async () => {
  const { at, run } = await threeSources();
  await run('sync');
  await at.write('costs.csv', longFile({ Rent: { '2026-01': '-7.50', '2026-02': '800' }, Power: { '2026-03': 2 } }));
  const { code, stdout } = await run(...markdown);
  expect(code).toBe(2);
  expect(stdout).toContain('### driver-sync: 2 drivers and 2 points would change\n');
  expect(stdout).toContain(
    [
      '#### <code>costs</code>: 2 points change',
      '',
      '| first element | sum before | sum after | change |',
      '|---|--:|--:|--:|',
      '| <code>Power</code> | 0 | 2 | +2 |',
      '| <code>Rent</code> | 0.50 | 792.50 | +792 |',
      '',
      '| driver | path | month | old value | new value | change |',
      '|---|---|---|--:|--:|--:|',
      '| <code>Rent</code> | <code>Rent</code> | <code>2026-02</code> | 8 | 800 | +792 |',
      '| <code>Power</code> | <code>Power</code> | <code>2026-03</code> | (none) | 2 | +2 |',
      '',
    ].join('\n'),
  );
});

test('a preview that cannot be made says so, and never that nothing changes', async () => {
  const { at, run } = await threeSources();
  await run('sync');
  await at.write('driver-sync.yaml', 'destination: emulator\nsources:\n  a: { type: nothing }\n');
  const { code, stdout, stderr } = await run(...markdown);
  expect(code).toBe(78);
  expect(stdout).toContain(
    `${mark}### driver-sync: the preview could not be made\n\n> [!CAUTION]\n> **Nobody knows what this would change.**`,
  );
  expect(stdout).toMatch(/driver-sync\.yaml:3:\d+ /);
  expect(stdout).not.toContain('nothing would change');
  expect(stderr).toContain('the config has 2 problems');
});

test('the first push says what it deletes, and a blocked one why', async () => {
  const { at, run } = await threeSources();
  expect((await run(...markdown)).stdout).toContain('that is not among these 22 drivers');
  await at.remove('costs.csv');
  expect((await run(...markdown)).stdout).toContain(
    '> **Nothing may be pushed.**  \n> <code>the first push waits for "costs"',
  );
});

test('text from data is no markup: it makes no table cell, no link, no mention and no tag', async () => {
  const id = '@team | <b>x</b> [a](http://b) `c` ![d](e) **f** #1';
  const { stdout } = await commandsWorld({ a: csv('a.csv') }, { 'a.csv': longFile({ [id]: { '2026-01': 1 } }) }).then(
    ({ run }) => run(...markdown),
  );
  const row = stdout.split('\n').find((line) => line.includes('2026-01'))!;
  expect(row.split('|')).toHaveLength(8);
  expect(row).not.toMatch(/<b>|\]\(|`|\*\*/);
  expect(row).toMatch(/^\| <code>@team &#124; &#60;b&#62;x/);
});

test('a comment of 65 536 characters holds it, and it says how much it leaves out', async () => {
  const rows = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`${index} ${'long '.repeat(30)}`, { '2026-01': index }]),
  );
  const { run } = await commandsWorld({ a: csv('a.csv') }, { 'a.csv': longFile(rows) });
  const { stdout } = await run(...markdown, '--all');
  expect(stdout.length).toBeLessThan(65_536);
  const shown = stdout.match(/^\| .*2026-01/gm)?.length ?? 0;
  expect(stdout).toContain(`and ${500 - shown} smaller changes: <code>driver-sync plan --all</code>`);
});

test('diff has the same face', async () => {
  const { run } = await twoPushes();
  const { stdout } = await run('diff', '1', '2', '--format', 'markdown');
  expect(stdout).toContain('### driver-sync: from push 1 to push 2: 2 points change\n');
  expect(stdout).toContain('| <code>South</code> | 0 | 4 | +4 |');
  expect((await run('diff', '1', '1', '--format', 'markdown')).stdout).toContain(
    'from push 1 to push 1: no difference',
  );
});

test.each(['plan', 'diff 1 2'])('%s prints one format', async (command) => {
  const { run } = await twoPushes();
  expect((await run(...command.split(' '), '--format', 'markdown', '--json')).code).toBe(64);
  expect((await run(...command.split(' '), '--format', 'html')).code).toBe(64);
});
