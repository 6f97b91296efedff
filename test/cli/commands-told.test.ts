/** What a person is told: changes with their values, totals, and why a pass that looks well did not end with 0. */
import { expect, test } from 'vitest';
import { commandLine, shapes } from '../support/command-line.ts';
import { commandsWorld, manyDrivers, threeSources, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const grid = (drivers: number, value: (index: number) => number): string =>
  longFile(
    Object.fromEntries(Array.from({ length: drivers }, (_, index) => [`D${index}`, { '2026-01': value(index) }])),
  );

test('plan prints the largest changes of each source with old and new value, 20 unless --all', async () => {
  const { at, run, json } = await threeSources();
  await run('sync');
  await at.write('costs.csv', longFile({ Rent: { '2026-01': '-7.50', '2026-02': '800' }, Power: { '2026-03': 2 } }));
  const { stdout } = await run('plan');
  expect(stdout).toMatch(/costs: the next push changes 2 points\n/);
  expect(stdout).toMatch(/Rent +Rent +2026-02 +8 +800\n.*Power +Power +2026-03 +\(none\) +2\n/);
  expect(stdout).not.toContain('-7.50');

  await at.write(
    'costs.csv',
    grid(50, (index) => index + 1),
  );
  const some = (await run('plan')).stdout;
  expect(some).toContain('the 20 largest (--all shows all)');
  const changed = (text: string): number => text.match(/^ {2}D\d+ .*\(none\)/gm)?.length ?? 0;
  expect([changed(some), changed((await run('plan', '--all')).stdout)]).toEqual([20, 50]);
  const { sources } = await json<{ sources: { name: string; largest: unknown[] }[] }>('plan', '--all');
  expect(sources.find(({ name }) => name === 'costs')?.largest).toHaveLength(52);
});

test('plan shows what a held source would change too', async () => {
  const { at, run } = await threeSources();
  await run('sync');
  await at.write('revenue.csv', manyDrivers(5));
  const { code, stdout } = await run('plan');
  expect(code).toBe(4);
  expect(stdout).toContain('revenue is held; approving it changes 15 points');
  expect(stdout).toMatch(/R5 +R5 +2026-01 +1 +\(none\)/);
});

test('plan of a first push that waits says that it waits, and not that it deletes all', async () => {
  const { at, run } = await threeSources();
  await at.remove('costs.csv');
  const { stdout } = await run('plan');
  expect(stdout).toContain('blocked: the first push waits for "costs" (not read yet)');
  expect(stdout).not.toContain('this is the first push');
});

test('plan says after a rollback that nothing of it is pushed until somebody asks', async () => {
  const { run, json } = await twoPushes();
  expect((await run('plan')).stdout).not.toContain('rolled back');
  await run('rollback', '1');
  expect((await run('plan')).stdout).toContain('rolled back to push 1: nothing of this is pushed until');
  expect(await json('plan')).toMatchObject({ rolledBackTo: 1, exit: 2 });
  await run('sync');
  expect((await run('plan')).stdout).not.toContain('rolled back');
});

test('a source that is held or not read says that its accepted data stays, where it has any', async () => {
  const stays = '  meanwhile its accepted data stays in every snapshot\n';
  const { at, run } = await threeSources();
  await at.write('staff.csv', longFile({ Heads: { '2026-01': 'x' } }));
  expect((await run('sync')).stdout).not.toContain(stays);
  await at.write('staff.csv', longFile({ Heads: { '2026-01': 3 } }));
  expect((await run('sync')).stdout).not.toContain(stays);
  await at.write('revenue.csv', manyDrivers(5));
  expect((await run('sync')).stdout).toMatch(new RegExp(`revenue: held: .*\\n.*\\n${stays}`));
  await at.write('revenue.csv', manyDrivers(20));
  await at.write('costs.csv', 'id,time\n');
  expect((await run('sync')).stdout).toMatch(new RegExp(`costs: unread: .*\\n.*\\n${stays}`));
  // All that a source has may go at once.
  await at.write('costs.csv', 'id,time,value\n');
  expect((await run('sync')).stdout).toMatch(new RegExp(`costs: held: .*\\n.*\\n${stays}`));
});

test('explain before anything was accepted says so, and does not blame the name', async () => {
  const { run } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': longFile({ North: { '2026-01': 'x' } }) });
  await run('sync');
  const { code, stderr } = await run('explain', 'North');
  expect(code).toBe(64);
  expect(stderr).toContain('no read of any source was accepted yet');
});

test('rejects without any say that they are those of the last pass', async () => {
  const { at, run } = await twoPushes();
  const note = '"driver-sync check" reads the sources now';
  expect((await run('rejects')).stderr).toContain(note);
  await at.write('a.csv', longFile({ North: { '2026-01': 'x' } }));
  await run('sync');
  expect((await run('rejects')).stderr).not.toContain(note);
  expect((await run('rejects', '--json')).stderr).not.toContain(note);
});

test('a command that lacks an argument names its own help', async () => {
  const { stderr } = await commandLine('rollback');
  expect(stderr).toBe(
    `driver-sync: missing required argument 'push'\n  "driver-sync rollback --help" shows what it takes\n`,
  );
  expect((await commandLine('synk')).stderr).toContain('"driver-sync --help" shows the commands');
});

test('changes are counted in words', async () => {
  const { run } = await twoPushes();
  expect((await run('history')).stdout).toMatch(/1 created, 1 updated +1 created, 1 updated/);
  expect((await run('diff', '2', '1')).stdout).toContain('drivers: 1 updated, 1 deleted; points: 1 updated, 1 deleted');
  expect((await run('sync')).stdout).toMatch(/revenue +unchanged.* none\n/);
});

test('a pass that has nothing to push and does not end with 0 says why', async () => {
  const { at, run } = await threeSources();
  await run('sync');
  await at.write('revenue.csv', manyDrivers(5));
  await at.remove('costs.csv');
  expect((await run('sync')).stdout).toContain('unchanged (held: revenue; not read: costs)');
  expect((await run('status')).stdout).toMatch(/last pass .* unchanged, exit 4 \(held: revenue; not read: costs\)\n/);
});

test('history folds attempts of one snapshot that failed alike, and --json has each', async () => {
  const { at, receiver, run, json } = await twoPushes();
  receiver.answer(...Array.from({ length: 4 }, () => ({ status: 422, text: 'no such driver' })));
  await at.write('a.csv', longFile({ North: { '2026-01': 9, '2026-02': 3 }, South: { '2026-01': 4 } }));
  for (let attempt = 0; attempt < 4; attempt++) await run('sync');
  await run('sync');
  const { stdout } = await run('history');
  expect(stdout).toMatch(/^ *7 .* acknowledged /m);
  expect(stdout).toMatch(/^ *3-6 .* refused, 4 attempts /m);
  expect(stdout.match(/^push \d/gm)).toHaveLength(1);
  expect(stdout.match(/^ *\d[\d-]* .*acknowledged/gm)).toHaveLength(3);
  expect((await json<{ pushes: unknown[] }>('history')).pushes).toHaveLength(7);
});

test('diff begins with the total and shows 100 lines unless --all', async () => {
  const { at, run, json } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': grid(80, () => 1) });
  await run('sync');
  await at.write(
    'a.csv',
    grid(80, () => 2),
  );
  await run('sync');
  const total = 'from push 1 to push 2: drivers: 80 updated; points: 80 updated';
  const some = (await run('diff', '1', '2')).stdout.trimEnd().split('\n');
  expect(some[0]).toBe(total);
  expect(some).toHaveLength(103);
  expect(some.at(-1)).toBe('and 60 more lines: driver-sync diff 1 2 --all');
  const all = (await run('diff', '1', '2', '--all')).stdout.trimEnd().split('\n');
  expect(all[0]).toBe(total);
  expect(all).toHaveLength(162);
  expect(await json('diff', '1', '2')).toMatchObject({ changes: shapes.changes, drivers: { length: 80 } });
});
