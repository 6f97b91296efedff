/** `sync`, `plan`, `approve`: their JSON, their exit codes and what a person is told. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { shapes } from '../support/command-line.ts';
import { type CommandsWorld, commandsWorld, manyDrivers, threeSources } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { holdTwin, recordsOf } from '../support/state-records.ts';
import { longFile } from '../support/world.ts';

interface Report {
  readonly outcome: string;
  readonly exit: number;
  readonly digest: string;
  readonly push?: { readonly id: number; readonly digest: string };
  readonly sources: readonly { readonly name: string; readonly state: string; readonly digest?: string }[];
}

const sourceOf = ({ sources }: Report, name: string): Report['sources'][number] | undefined =>
  sources.find((source) => source.name === name);

describe('sync', () => {
  test('prints what scripts rely on, as a process too', async () => {
    const { at, receiver } = await threeSources();
    const first = await at.command('sync', '--json');
    const [post] = receiver.posts;
    expect(first.code).toBe(0);
    expect(first.json()).toMatchObject({
      outcome: 'acknowledged',
      exit: 0,
      push: {
        id: expect.any(Number),
        digest: post?.digest,
        drivers: 22,
        points: 23,
        bytes: Buffer.byteLength(post?.body ?? ''),
        status: 200,
      },
      sources: [
        { name: 'revenue', state: 'accepted', parts: 1, rows: 20, rejects: 0, drivers: 20, points: 20, carried: [] },
        {
          name: 'costs',
          state: 'accepted',
          rows: 2,
          changes: { drivers: { create: 1, update: 0, delete: 0 }, points: { create: 2, update: 0, delete: 0 } },
        },
        { name: 'staff', state: 'accepted', drivers: 1, points: 1 },
      ],
    });
    const second = await at.command('sync', '--json');
    expect(second.code).toBe(0);
    expect(second.json()).toMatchObject({ outcome: 'unchanged', exit: 0, sources: Array(3).fill(shapes.source) });
    expect(second.json()).not.toHaveProperty('push');
    expect(receiver.posts).toHaveLength(1);
  });

  test('--force pushes the same bytes again', async () => {
    const { receiver, json } = await threeSources();
    const first = await json<Report>('sync');
    const again = await json<Report>('sync', '--force');
    expect(again).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { digest: first.push?.digest } });
    expect(receiver.posts.map(({ digest }) => digest)).toEqual([first.push?.digest, first.push?.digest]);
  });

  test('is blocked with 4 while a source was never accepted, and pushes nothing', async () => {
    const { at, receiver, json, run } = await threeSources();
    await at.remove('costs.csv');
    const blocked = await json<Report>('sync');
    expect(blocked).toMatchObject({ outcome: 'blocked', exit: 4 });
    expect(blocked).not.toHaveProperty('push');
    expect((await run('sync')).stdout).toMatch(/blocked[^]*costs/);
    expect(receiver.posts).toEqual([]);
  });

  test('exits with the gravest of what applies: 75, 5, 4, 3', async () => {
    const { at, receiver, json } = await threeSources();
    await json('sync');
    await at.write('revenue.csv', manyDrivers(5)); // held
    await at.remove('costs.csv'); // not read
    await at.write('staff.csv', longFile({ Heads: { '2026-01': 4 } })); // to push
    receiver.answer({ status: 503, headers: { 'retry-after': '3600' } }, { status: 422, text: 'no' });

    const states = [{ name: 'revenue', state: 'held' }, { name: 'costs', state: 'unread' }, { name: 'staff' }];
    expect(await json('sync')).toMatchObject({
      outcome: 'unreachable',
      exit: 75,
      push: { status: 503 },
      sources: states,
    });
    expect(await json('sync', '--force')).toMatchObject({
      outcome: 'refused',
      exit: 5,
      push: { status: 422 },
      sources: states,
    });
    expect(await json('sync')).toMatchObject({ outcome: 'acknowledged', exit: 4, sources: states });
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 4, sources: states });
    await at.write('revenue.csv', manyDrivers(20));
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 3 });
    await at.write('costs.csv', longFile({ Rent: { '2026-01': '-7.50', '2026-02': '8' } }));
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 0 });
    expect(receiver.posts).toHaveLength(4);
  });

  test('exits with 3 once when a part disappeared, and status shows it from then on', async () => {
    const { at, json, configure } = await threeSources();
    await configure({ revenue: csv('r-*.csv') });
    await at.write('r-1.csv', longFile({ A: { '2026-01': 1 } }));
    await at.write('r-2.csv', longFile({ B: { '2026-01': 1 } }));
    await json('sync');
    await at.remove('r-1.csv');
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 3, sources: [{ carried: ['r-1.csv'] }] });
    expect(await json('sync')).toMatchObject({ outcome: 'unchanged', exit: 0, sources: [{ carried: ['r-1.csv'] }] });
    expect(await json('status')).toMatchObject({ sources: [{ carried: ['r-1.csv'] }] });
  });

  test('an unknown column is a failure of that source alone', async () => {
    const { at, json, configure, receiver } = await threeSources();
    await json('sync');
    const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{amount}' }];
    await configure({ revenue: csv('revenue.csv'), costs: csv('costs.csv', { drivers }), staff: csv('staff.csv') });
    await at.write('staff.csv', longFile({ Heads: { '2026-01': 4 } }));
    const pushed = await json<Report>('sync');
    expect(pushed).toMatchObject({ outcome: 'acknowledged', exit: 3 });
    expect(sourceOf(pushed, 'costs')).toMatchObject({ state: 'unread', reason: expect.stringContaining('"amount"') });
    expect(receiver.posts.at(-1)?.body).toContain('"Rent"');
  });

  test('with a config that is wrong is 78 with all problems, and sends nothing', async () => {
    const { at, receiver, run } = await threeSources({ scedule: '0 * * * *', timezone: 'Europe/Berln' });
    const { code, json } = await run('sync', '--json');
    expect(code).toBe(78);
    expect(json()).toMatchObject(shapes.failure(78));
    expect(JSON.stringify(json())).toMatch(/scedule[^]*Berln|Berln[^]*scedule/);
    const spawned = await at.command('sync');
    expect(spawned).toMatchObject({ code: 78, stdout: '' });
    expect(spawned.stderr).toMatch(/driver-sync\.yaml:\d+:\d+ .*schedule/);
    expect(receiver.posts).toEqual([]);
  });
});

describe('plan', () => {
  test('of the first push says what it will delete, sends nothing, and its digest is what sync then pushes', async () => {
    const { at, receiver, run, json } = await threeSources();
    const planned = await at.command('plan');
    expect(planned.code).toBe(2);
    expect(planned.stdout).toMatch(/first push/);
    expect(planned.stdout).toMatch(/delete.*every driver/);
    const inJson = await run('plan', '--json');
    expect(inJson.code).toBe(2);
    expect(inJson.json()).toMatchObject({
      changes: { drivers: { create: 22, update: 0, delete: 0 }, points: { create: 23, update: 0, delete: 0 } },
      digest: shapes.digest,
      sources: Array.from({ length: 3 }, () => ({ ...shapes.source, state: 'accepted' })),
    });
    expect(receiver.posts).toEqual([]);
    expect((await json<Report>('sync')).push?.digest).toBe(inJson.json<Report>().digest);
    expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('first push') });
  });

  test('counts what changes against the last acknowledged snapshot', async () => {
    const { at, json } = await threeSources();
    await json('sync');
    const rows = ['Rent,2026-01,-7.5', 'Rent,2026-03,9'];
    await at.write('costs.csv', `id,time,value\n${rows.join('\n')}\n`);
    expect(await json('plan')).toMatchObject({
      changes: { drivers: { create: 0, update: 1, delete: 0 }, points: { create: 1, update: 1, delete: 1 } },
    });
  });

  test('names renamed ids: a delete and a create at the service', async () => {
    const { json, run, configure } = await threeSources({ guard: { maxDeletes: '100%' } });
    await json('sync');
    const drivers = [{ id: 'people/{id|lower}', path: ['{id}'], time: '{time}', value: '{value}' }];
    await configure(
      { revenue: csv('revenue.csv'), costs: csv('costs.csv'), staff: csv('staff.csv', { drivers }) },
      { guard: { maxDeletes: '100%' } },
    );
    const { code, stdout } = await run('plan');
    expect(code).toBe(2);
    expect(stdout).toMatch(/renamed.*"Heads".*"people\/heads"/);
    expect(await json('plan')).toMatchObject({
      changes: { drivers: { create: 1, update: 0, delete: 1 }, points: { create: 1, update: 0, delete: 1 } },
    });
  });

  test('another path makes other drivers where it is the id too, and none where the old path is written as the id', async () => {
    const names = [1, 2, 3].map((n) => `n${n}`);
    const entry = { time: '{time}', value: '{value}' };
    const sources = (own: object): object => ({ staff: csv('staff.csv', { drivers: [{ ...entry, ...own }] }) });
    const { run, json, configure } = await commandsWorld(sources({ path: ['Old', '{id}'] }), {
      'staff.csv': longFile(Object.fromEntries(names.map((name) => [name, { '2026-01': 3 }]))),
    });
    await json('sync');
    await configure(sources({ path: ['New', '{id}'] }));
    expect(await json('plan')).toMatchObject({ sources: [{ state: 'held', changes: { drivers: { delete: 3 } } }] });
    await configure(sources({ id: 'Old/{id}', path: ['New', '{id}'] }));
    expect(await json('plan')).toMatchObject({ sources: [{ state: 'accepted' }] });
    expect((await run('plan')).stdout).toContain(
      '3 drivers under another path:\n  Old/n1: Old / n1 becomes New / n1\n',
    );
  });

  test('is 4 where something is held, 3 where a source was not read, 4 for both', async () => {
    const { at, json, run } = await threeSources();
    await json('sync');
    await at.remove('costs.csv');
    expect(await json('plan')).toMatchObject({ sources: [{}, { name: 'costs', state: 'unread' }, {}] });
    expect((await run('plan')).code).toBe(3);
    await at.write('revenue.csv', manyDrivers(5));
    const held = await run('plan', '--json');
    expect(held.code).toBe(4);
    const source = sourceOf(held.json<Report>(), 'revenue');
    expect(source).toMatchObject({
      state: 'held',
      digest: shapes.digest,
      reason: expect.stringContaining('15 of 20 drivers'),
      changes: { drivers: { delete: 15 } },
    });
    const text = await run('plan');
    expect(text.code).toBe(4);
    expect(text.stdout).toContain(`approve ${source?.digest?.slice(0, 8)}`);
    expect(text.stdout).toContain('15 of 20 drivers');
  });

  test('is 4 while nothing may be pushed yet', async () => {
    const { at, run } = await threeSources();
    await at.remove('costs.csv');
    expect((await run('plan', '--json')).code).toBe(4);
  });

  test('leaves the state as it was, but for the digests of what is held', async () => {
    const { at, json, run } = await threeSources();
    await json('sync');
    await at.write('costs.csv', longFile({ Rent: { '2026-01': 1 }, Power: { '2026-01': 2 } }));
    await at.write('staff.csv', 'id,time\n');
    const before = await recordsOf(at.state);
    expect((await run('plan')).code).toBe(3);
    expect(await recordsOf(at.state)).toEqual(before);

    await at.write('revenue.csv', manyDrivers(5));
    expect((await run('plan')).code).toBe(4);
    const { held, ...after } = await recordsOf(at.state);
    const { held: heldBefore, ...rest } = before;
    expect({ held: heldBefore, ...rest }).toEqual({ held: [], ...after });
    expect(held).toMatchObject([{ source: 'revenue' }]);
  });
});

describe('approve', () => {
  async function withHeld(): Promise<CommandsWorld & { digest: string }> {
    const commands = await threeSources();
    await commands.json('sync');
    await commands.at.write('revenue.csv', manyDrivers(5));
    const digest = sourceOf(await commands.json<Report>('sync'), 'revenue')?.digest ?? '';
    return { ...commands, digest };
  }

  test('takes a prefix of eight, and the next sync accepts and pushes', async () => {
    const { at, digest, json, receiver } = await withHeld();
    const approved = await at.command('approve', digest.slice(0, 8), '--json');
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain(digest);
    const after = await json<Report>('sync');
    expect(after).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(sourceOf(after, 'revenue')).toMatchObject({ state: 'accepted', drivers: 5 });
    expect(JSON.parse(receiver.posts.at(-1)?.body ?? '')).toMatchObject({ extDrivers: { length: 7 } });
  });

  test('approving again adds nothing to the record, and says who approved it', async () => {
    const { digest, run, json } = await withHeld();
    await run('approve', digest, '--reason', 'ticket 1');
    const again = await run('approve', digest);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^revenue was approved already \(.*, now\) by .+: ticket 1; the next sync takes it up\n$/,
      ),
    });
    expect((await run('approve', digest, '--json')).json()).toMatchObject({
      approved: digest,
      reason: 'ticket 1',
      approvedAt: expect.stringMatching(/Z$/),
    });
    await json('sync');
    const { decisions } = await json<{ decisions: readonly object[] }>('history');
    expect(decisions).toMatchObject([{ kind: 'approval', state: 'used', reason: 'ticket 1' }]);
  });

  test('refuses with 64 a prefix of seven, an unknown digest and none at all, and says what is held', async () => {
    const { digest, run, json } = await withHeld();
    for (const wrong of [digest.slice(0, 7), '0'.repeat(64), `${digest}0`, 'latest', '']) {
      const refused = await run('approve', wrong, '--json');
      expect(refused.code).toBe(64);
      expect(refused.json()).toMatchObject(shapes.failure(64));
      expect(refused.stdout).toContain(`held are ${digest.slice(0, 12)} (revenue)`);
    }
    expect((await json<Report>('sync')).exit).toBe(4);
  });

  test('refuses with 64 a prefix that two digests share', async () => {
    const { at, digest, run, configure } = await withHeld();
    await configure({ revenue: csv('revenue.csv'), costs: csv('costs.csv'), staff: csv('staff.csv') });
    holdTwin(at.state, digest);
    const { code, json } = await run('approve', digest.slice(0, 8), '--json');
    expect(code).toBe(64);
    expect(json()).toMatchObject(shapes.failure(64));
    expect((await run('approve', digest, '--json')).code).toBe(0);
  });

  test('refuses with 64 what no approval can let pass: a driver that belongs to another source', async () => {
    const { at, json, run } = await threeSources();
    await json('sync');
    await at.write('staff.csv', longFile({ Heads: { '2026-01': 3 }, Rent: { '2026-01': 1 } }));
    const held = sourceOf(await json<Report>('sync'), 'staff');
    expect(held).toMatchObject({ state: 'held', reason: expect.stringMatching(/Rent.*staff.*costs/) });
    expect((await run('approve', held?.digest ?? '', '--json')).code).toBe(64);
  });
});

test('a token that the environment does not have is a problem for those who send, and for check', async () => {
  const { at, json, run } = await threeSources();
  await json('sync');
  await writeFile(
    path.join(at.dir, 'driver-sync.yaml'),
    'destination: { url: "http://127.0.0.1:9", token: "${DRIVER_SYNC_TEST_UNSET}" }\nsources: { revenue: { type: csv, files: [revenue.csv], drivers: [{ path: ["{id}"], time: "{time}", value: "{value}" }] } }\n',
  );
  for (const command of ['sync', 'check']) expect((await run(command, '--json')).code).toBe(78);
  expect((await run('plan', '--json')).code).toBe(4);
  for (const command of ['status', 'history', 'rejects']) expect((await run(command, '--json')).code).toBe(0);
});

test('where the variable of the address is not set, as in a shell beside the service, the address pushed to last counts', async () => {
  const { at, json, run, receiver } = await threeSources();
  await json('sync');
  const file = path.join(at.dir, 'driver-sync.yaml');
  const config = await readFile(file, 'utf8');
  expect(config).toContain(receiver.url);
  await writeFile(file, config.replace(receiver.url, '${DRIVER_SYNC_TEST_UNSET}'));
  expect((await run('sync')).code).toBe(78);
  expect(await json('status')).toMatchObject({ lastPush: { id: 1 }, lastAcknowledged: { id: 1 } });
  expect(await json('explain', 'Rent', '2026-01')).toMatchObject({ points: [{ firstPush: 1 }] });
  expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('first push') });
});
