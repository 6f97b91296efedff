/** What a person is told: changes with their values, totals, and why a pass that looks well did not end with 0. */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  expect(stdout).toMatch(/Rent +Rent +2026-02 +8 +800 +\+792\n.*Power +Power +2026-03 +\(none\) +2 +\+2\n/);
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
  const planned = await json<{ blocked?: object }>('plan');
  expect(planned).toMatchObject({ rolledBackTo: 1, exit: 2, blocked: { reason: 'rolled back to push 1' } });
  expect(planned.blocked).toEqual((await json<{ blocked?: object }>('status')).blocked);
  expect(planned).not.toHaveProperty('nextPush');
  expect(planned).not.toHaveProperty('nextPushWhy');
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

test('explain once all drivers are gone does not say that nothing was accepted', async () => {
  const mayBeEmpty = { revenue: { ...csv('a.csv'), mayBeEmpty: true } };
  const { at, run, json } = await commandsWorld(mayBeEmpty, { 'a.csv': north(1) });
  await run('sync');
  await at.write('a.csv', 'id,time,value\n');
  await run('sync');
  const { held } = await json<{ held: { digest: string }[] }>('status');
  await run('approve', held[0]?.digest ?? '');
  await run('sync');
  expect(await json('status')).toMatchObject({ lastAcknowledged: { drivers: 0 } });
  const { code, stderr } = await run('explain', 'North');
  expect(code).toBe(64);
  expect(stderr).toContain('no accepted read has any driver: see "driver-sync status"');
});

test('explain after the only source left and was forgotten does not say that nothing was accepted', async () => {
  const { run, configure } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': north(1) });
  await run('sync');
  await configure({ costs: csv('b.csv') });
  await run('sync');
  await run('forget', 'revenue', '--yes');
  await run('sync');
  expect((await run('explain', 'North')).stderr).toContain('no accepted read has any driver: see "driver-sync status"');
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

test('plan says where it cannot tell what the service holds, and needs no snapshot where that has all', async () => {
  const { at, run, json } = await twoPushes();
  for (const name of await readdir(join(at.state, 'archive'))) {
    const file = join(at.state, 'archive', name);
    const bytes = await readFile(file);
    // In the points: a file that does not even say what it is would be made anew.
    const place = Math.floor(bytes.length * 0.9);
    await writeFile(file, bytes.fill(0xa5, place, place + 8));
  }
  expect(await json('plan')).toMatchObject({
    exit: 0,
    changes: { drivers: { create: 0 }, points: { create: 0 } },
    sources: [{ changedPoints: 0 }],
  });
  const said = 'what push 2 sent cannot be read any more: every point is shown as created, and none as deleted';
  expect((await run('plan')).stdout).not.toContain(said);
  await at.write('a.csv', longFile({ North: { '2026-01': '1.50', '2026-02': 3 } }));
  expect(await json('plan')).toMatchObject({
    exit: 2,
    unreadablePush: 2,
    changes: { points: { create: 2, delete: 0 } },
  });
  expect((await run('plan')).stdout).toContain(`\n  ${said}\n`);
  const { stdout } = await run('plan', '--format', 'markdown');
  expect(stdout).toContain('**Nobody knows what the service holds.**');
  expect(stdout).toContain(said);
});

test('rejects of a buffer that was lost are not said to be none', async () => {
  const file = (value: string): string => longFile({ North: { '2026-01': 1, '2026-02': value } });
  const { at, run } = await commandsWorld(
    { revenue: csv('a.csv'), costs: csv('b.csv') },
    { 'a.csv': file('x'), 'b.csv': longFile({ Rent: { '2026-01': 1 } }) },
    { guard: { maxRejects: '50%' } },
  );
  await run('plan');
  expect((await run('rejects')).stderr).toContain('no pass of the agent has ended yet');
  await run('sync');
  for (const name of ['buffer.db', 'buffer.db-wal', 'buffer.db-shm']) await rm(join(at.state, name), { force: true });
  const { code, stderr } = await run('rejects', 'revenue');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      'the last pass of the agent had 1 reject, and the buffer with its row was lost; "driver-sync check" reads the sources now\n',
  });
  expect((await run('rejects', '--json')).json()).toMatchObject({ total: 0, lost: 1 });
  expect((await run('rejects', 'costs')).stderr).toContain('the last pass of the agent had no rejects');
  await run('sync');
  expect((await run('rejects', '--json')).json()).toMatchObject({ total: 1 });
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
  expect((await run('status')).stdout).toMatch(/last pass .*: unchanged \(held: revenue; not read: costs\)\n/);
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

test('diff begins with the total and shows the 20 largest changes unless --all', async () => {
  const { at, run, json } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': grid(80, () => 1) });
  await run('sync');
  await at.write(
    'a.csv',
    grid(80, (index) => index + 2),
  );
  await run('sync');
  const total = 'from push 1 to push 2: drivers: 80 updated; points: 80 updated';
  const shown = (lines: readonly string[]): number => lines.filter((line) => /^ {2}D\d+ .*2026-01/.test(line)).length;
  const some = (await run('diff', '1', '2')).stdout.split('\n');
  expect([some[0], some[2], shown(some)]).toEqual([total, 'the 20 largest (--all shows all):', 20]);
  expect(some[4]).toMatch(/^ {2}D79 +D79 +2026-01 +1 +81 +\+80$/);
  const all = (await run('diff', '1', '2', '--all')).stdout.split('\n');
  expect([all[0], shown(all)]).toEqual([total, 80]);
  expect(await json('diff', '1', '2')).toMatchObject({
    changes: shapes.changes,
    drivers: { length: 80 },
    largest: { length: 20 },
    changedPoints: 80,
  });
});

const twoLevels = (rows: readonly string[]): string => ['id,element,time,value', ...rows, ''].join('\n');

/** A driver below each of two elements, `Sales` and `Costs`, pushed; then both changed, and another moved between them. */
async function elements() {
  const drivers = [{ id: '{id}', path: ['{element}', '{id}'], time: '{time}', value: '{value}' }];
  const before = twoLevels([
    'a,Sales,2026-01,10.50',
    'b,Costs,2026-01,-4',
    'c,Costs,2026-01,-100',
    'd,Other,2026-01,7',
  ]);
  const commands = await commandsWorld({ all: { ...csv('a.csv'), drivers } }, { 'a.csv': before });
  await commands.run('sync');
  const after = ['a,Sales,2026-01,10.75', 'b,Costs,2026-01,-4', 'b,Costs,2026-02,-3', 'c,Sales,2026-01,-100'];
  await commands.at.write('a.csv', twoLevels([...after, 'd,Other,2026-01,7']));
  return commands;
}

test('plan and diff say what the values under each first element of a path add up to, where that changes', async () => {
  const { run, json } = await elements();
  const totals = [
    { path: 'Costs', before: '-104', after: '-7', change: '97' },
    { path: 'Sales', before: '10.50', after: '-89.25', change: '-99.75' },
  ];
  expect(await json('plan')).toMatchObject({ sources: [{ name: 'all', totals }] });
  const { stdout } = await run('plan');
  expect(stdout).toMatch(
    / {2}first element +sum before +sum after +change\n {2}Costs +-104 +-7 +\+97\n {2}Sales .*-99.75\n/,
  );
  expect(stdout).toMatch(/a +Sales \/ a +2026-01 +10.50 +10.75 +\+0.25\n/);
  expect(stdout).toContain('all: the next push changes 2 points and 1 path\n');
  expect(stdout).toContain('1 driver under another path:\n  c: Costs / c becomes Sales / c\n');
  await run('sync');
  expect(await json('diff', '1', '2')).toMatchObject({ totals });
  const shown = (await run('diff', '1', '2')).stdout;
  expect(shown).toMatch(/Sales +10.50 +-89.25 +-99.75\n/);
  expect(shown).toContain('1 driver under another path:\n  c: Costs / c becomes Sales / c\n');
});

test('plan lists drivers that exchange their paths, though no point changes', async () => {
  const row = (id: string, path: string): string => `${id},${path},2026-01,1`;
  const file = (a: string, b: string): string => `id,path,time,value\n${row('a', a)}\n${row('b', b)}\n`;
  const drivers = [{ id: '{id}', path: ['X', '{path}'], time: '{time}', value: '{value}' }];
  const { run, json, at } = await commandsWorld({ all: { ...csv('a.csv'), drivers } }, { 'a.csv': file('A', 'B') });
  await run('sync');
  await at.write('a.csv', file('B', 'A'));
  const moved = [
    { driver: 'a', from: ['X', 'A'], to: ['X', 'B'] },
    { driver: 'b', from: ['X', 'B'], to: ['X', 'A'] },
  ];
  expect(await json('plan')).toMatchObject({ sources: [{ changedPoints: 0, moved, movedDrivers: 2 }] });
  expect((await run('plan')).stdout).toContain(
    'all: the next push changes 2 paths\n\n2 drivers under another path:\n  a: X / A becomes X / B\n  b: X / B becomes X / A\n',
  );
  expect((await run('plan', '--format', 'markdown')).stdout).toContain(
    '**2 drivers under another path:**\n\n- <code>a</code>: <code>X / A</code> becomes <code>X / B</code>\n',
  );
});

const revenue = { revenue: csv('a.csv') };
const north = (value: number): string => longFile({ North: { '2026-01': value } });

test('plan says what is pushed though nothing changed, and from when on', async () => {
  const { run, json, receiver, configure } = await commandsWorld(revenue, { 'a.csv': north(1) });
  await run('sync');
  const soon = await json<{ nextPush: string; nextPushWhy: string }>('plan');
  const { lastAcknowledged } = await json<{ lastAcknowledged: { at: string } }>('status');
  expect(soon).toMatchObject({ isPushDue: false });
  expect(soon.nextPushWhy).toBe('an equal snapshot is pushed again after "refresh"');
  const inHours = (Date.parse(soon.nextPush) - Date.parse(lastAcknowledged.at)) / 3_600_000;
  expect(inHours).toBeGreaterThanOrEqual(20);
  expect(inHours).toBeLessThan(20.1);
  expect((await run('plan')).stdout).toMatch(
    /nothing is pushed now: the service has this snapshot\. It is due again at \d\d:\d\d \w+, in 20 h \(UTC\): an equal/,
  );

  await configure(revenue, { refresh: '1ms' });
  const due = await json<{ nextPush: string }>('plan');
  expect(due).toMatchObject({ changes: { points: { update: 0 } }, nextPushWhy: soon.nextPushWhy });
  expect(Date.parse(due.nextPush)).toBeLessThanOrEqual(Date.now());
  const { code, stdout } = await run('plan');
  expect(code).toBe(0);
  expect(stdout).toContain('it is pushed all the same: an equal snapshot is pushed again after "refresh"\n');
  expect(await json('sync')).toMatchObject({ outcome: 'acknowledged' });
  expect(receiver.posts).toHaveLength(2);
});

test('plan says what keeps changes back', async () => {
  const { at, run, json, receiver } = await commandsWorld(revenue, { 'a.csv': north(1) });
  await run('sync');
  await at.write('a.csv', north(2));
  expect((await run('plan')).stdout).not.toMatch(/it is (not )?pushed/);
  expect(await json('plan')).toMatchObject({ nextPushWhy: 'it is not what was acknowledged last' });
  receiver.answer({ status: 503, headers: { 'retry-after': '7200' } });
  expect(await json('sync')).toMatchObject({ exit: 75 });
  const later = /it is not pushed before \d\d:\d\d \w+, in 2 h \(UTC\): the service asked for it with Retry-After\n/;
  expect((await run('plan')).stdout).toMatch(later);

  // The service may have taken the other one all the same.
  await at.write('a.csv', north(1));
  expect(await json('plan')).toMatchObject({ changes: { points: { update: 0 } }, isPushDue: true });
  expect((await run('plan')).stdout).toMatch(later);
});
