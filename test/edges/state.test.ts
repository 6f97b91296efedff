/** The state directory lost, damaged, full or out of reach: what the person sees, and that the service loses nothing. */
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { pointsOf } from '../support/receiver.ts';
import { type World, file, holds, servedWorld, threeMonths, world } from '../support/state-world.ts';

function asideIn({ state }: World): string[] {
  return readdirSync(state).filter((name) => name.includes('damaged'));
}

function overwrite(target: string, { at, bytes, fill = 0x5a }: { at: number; bytes: number; fill?: number }): void {
  const fd = openSync(target, 'r+');
  writeSync(fd, Buffer.alloc(bytes, fill), 0, bytes, at);
  closeSync(fd);
}

const damages: readonly (readonly [name: string, damage: (target: string) => void])[] = [
  ['garbage', (target) => writeFileSync(target, 'no database at all\n'.repeat(1000))],
  ['truncated', (target) => truncateSync(target, Math.floor(statSync(target).size / 2) + 100)],
  ['empty', (target) => truncateSync(target, 0)],
  ['gone', (target) => rmSync(target)],
];

/** As a disk does it: a lost page, a torn write, a flipped bit. */
const wounds: readonly (readonly [name: string, wound: (target: string, at: number) => void])[] = [
  ['a page', (target, at) => overwrite(target, { at, bytes: 4096 })],
  ['zeros', (target, at) => overwrite(target, { at: at + 512, bytes: 512, fill: 0 })],
  ['a digit', (target, at) => flipDigit(target, at)],
];

/** Makes a 1 of the next value after a place a 7. */
function flipDigit(target: string, at: number): void {
  const found = readFileSync(target).indexOf('1.50', at);
  if (found >= 0) overwrite(target, { at: found, bytes: 1, fill: 0x37 });
}

const manyMonths = Array.from({ length: 2400 }, (_, index) => {
  const [year, month] = [1800 + Math.floor(index / 12), (index % 12) + 1];
  return `${year}-${String(month).padStart(2, '0')}`;
}).concat(threeMonths);

describe('the buffer', () => {
  test.each(damages)('%s, is rebuilt: nothing is sent that the service has', async (_name, damage) => {
    const one = await servedWorld();
    damage(file(one, 'buffer'));
    expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'unchanged' } });
    expect(one.service.posts).toHaveLength(1);

    one.write('sales.csv', { north: '1.75', south: '2' });
    expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
    expect(holds(one)).toEqual({ north: '1.75', south: '2', office: '300' });
  });

  test('garbage, is kept beside the new one, and the log says so', async () => {
    const one = await servedWorld();
    writeFileSync(file(one, 'buffer'), 'no database at all\n'.repeat(1000));
    const { stderr } = await one.run('sync');
    expect(stderr).toMatch(/buffer is damaged; it is moved aside/);
    const [aside = ''] = asideIn(one);
    expect(readFileSync(path.join(one.state, aside), 'utf8')).toMatch(/^no database at all/);
  });

  test.each(damages)('%s, while one share is away: its drivers stay', async (_name, damage) => {
    const one = await servedWorld();
    damage(file(one, 'buffer'));
    one.unplug('rents.csv');
    one.write('sales.csv', { north: '1.75', south: '2' });
    expect(await one.run('sync')).toMatchObject({ exit: 3, json: { outcome: 'acknowledged' } });
    expect(holds(one)).toEqual({ north: '1.75', south: '2', office: '300' });
  });

  test.each(damages)(
    '%s, while all shares are away: nothing is sent and everything can be asked',
    async (_name, damage) => {
      const one = await servedWorld();
      one.write('sales.csv', { north: '1.75', south: '2' });
      await one.run('sync');
      damage(file(one, 'buffer'));
      one.unplug('sales.csv');
      one.unplug('rents.csv');

      expect(await one.run('sync')).toMatchObject({ exit: 3, json: { outcome: 'unchanged' } });
      expect(one.service.posts).toHaveLength(2);
      expect(await one.run('history')).toMatchObject({ exit: 0, json: { pushes: [{ id: 2 }, { id: 1 }] } });
      expect(await one.run('diff', '1', '2')).toMatchObject({ exit: 0, json: { changes: { points: { update: 3 } } } });
      expect(await one.run('explain', 'north', '2026-01')).toMatchObject({
        exit: 0,
        json: { points: [{ value: '1.75', text: '1.75', source: 'sales', row: 1, firstPush: 2 }] },
      });
      expect(await one.run('rollback', '1')).toMatchObject({ exit: 0 });
      expect(holds(one)).toEqual({ north: '1.50', south: '2', office: '300' });
    },
  );

  test.each(damages)('%s, before anything rebuilt it: what was acknowledged can be asked', async (_name, damage) => {
    const one = await servedWorld();
    one.write('sales.csv', { north: '1.75', south: '2' });
    await one.run('sync');
    damage(file(one, 'buffer'));
    expect(await one.run('history')).toMatchObject({ exit: 0, json: { pushes: [{ id: 2 }, { id: 1 }] } });
    expect(await one.run('diff', '1', '2')).toMatchObject({ exit: 0, json: { changes: { points: { update: 3 } } } });
    expect(await one.run('status')).toMatchObject({ exit: 0, json: { lastAcknowledged: { id: 2 } } });
    expect(await one.run('plan')).toMatchObject({ exit: 0, json: { changes: { drivers: { delete: 0 } } } });
    expect(await one.run('rollback', '1')).toMatchObject({ exit: 0 });
    expect(holds(one)).toEqual({ north: '1.50', south: '2', office: '300' });
  });

  test.each(wounds)('damaged in its middle (%s), as a pass finds out: the newest is pushed', async (_name, wound) => {
    const one = await servedWorld();
    // Drivers of many points fill pages of their own, in which SQLite sees nothing wrong.
    one.write('sales.csv', { north: '1.50', south: '2' }, manyMonths);
    await one.run('sync');
    const saved = `${one.state}.saved`;
    cpSync(one.state, saved, { recursive: true });
    const { size } = statSync(file(one, 'buffer'));
    let rebuilt = 0;
    for (let at = 4096; at < size; at += 3 * 4096) {
      rmSync(one.state, { recursive: true });
      cpSync(saved, one.state, { recursive: true });
      wound(file(one, 'buffer'), at);
      one.write('rents.csv', { office: `300.${at}` });
      expect(await one.run('sync'), `at ${at}`).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
      expect(holds(one), `at ${at}`).toEqual({ north: '1.50', south: '2', office: `300.${at}` });
      expect(Object.values(pointsOf(one.service.posts.at(-1)!)['north'] ?? {}).every((value) => value === '1.50')).toBe(
        true,
      );
      rebuilt += asideIn(one).length;
    }
    expect(rebuilt).toBeGreaterThan(0);
  });
});

describe('the ledger', () => {
  test.each(damages.slice(0, 2))('%s, stops the agent: who lost count must not push', async (_name, damage) => {
    const one = await servedWorld();
    damage(file(one, 'ledger'));
    const before = readFileSync(file(one, 'ledger'));
    one.write('sales.csv', { north: '1.75', south: '2' });
    const { exit, json } = await one.run<{ error: { code: string; message: string; hint: string } }>('sync');
    expect(exit).toBe(75);
    expect(json.error.message).toContain(file(one, 'ledger'));
    // Nobody can rebuild it.
    expect(json.error.hint).not.toMatch(/rebuilt/);
    expect(one.service.posts).toHaveLength(1);
    expect(readFileSync(file(one, 'ledger')).equals(before)).toBe(true);
    expect(asideIn(one)).toEqual([]);
  });

  test('damaged on a page that a pass needs, costs no buffer', async () => {
    const one = await servedWorld();
    const size = statSync(file(one, 'ledger')).size;
    overwrite(file(one, 'ledger'), { at: 4096, bytes: size - 4096 });
    one.write('sales.csv', { north: '1.75', south: '2' });
    expect((await one.run('sync')).exit).toBe(75);
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
  });
});

describe('a state of a newer driver-sync', () => {
  const commands = [
    ['sync'],
    ['plan'],
    ['status'],
    ['history'],
    ['explain', 'north'],
    ['diff', '1', '1'],
    ['rollback', '1'],
  ];

  test.each(['buffer', 'ledger'] as const)('in the %s is refused with 78 and left alone', async (name) => {
    const one = await servedWorld();
    const database = new Database(file(one, name));
    database.pragma('user_version = 99');
    database.close();
    one.write('sales.csv', { north: '1.75', south: '2' });
    for (const args of commands) {
      expect(await one.run(...args), args.join(' ')).toMatchObject({
        exit: 78,
        json: { error: { code: 'state.newer' } },
      });
    }
    expect(one.service.posts).toHaveLength(1);
    expect(asideIn(one)).toEqual([]);
    const after = new Database(file(one, name), { readonly: true });
    expect(after.pragma('user_version', { simple: true })).toBe(99);
    after.close();
  });
});

describe('a state directory', () => {
  const looking = [['status'], ['history'], ['diff', '1', '2'], ['explain', 'north'], ['rejects']];
  const deciding = [
    ['approve', 'abcdef0123'],
    ['forget', 'sales', '--yes'],
    ['rollback', '1'],
  ];

  test.each([...looking, ...deciding])('that is missing: %s says where it looked, and makes none', async (...args) => {
    const one = await world();
    const { exit, json } = await one.run<{ error: { message: string; hint: string } }>(...args);
    expect(exit).toBe(78);
    expect(json.error.message).toContain(one.state);
    expect(json.error.hint).not.toBe('');
    expect(existsSync(one.state)).toBe(false);
  });

  test('is made for its user alone, with all directories in it', async () => {
    const one = await servedWorld();
    const modes = [one.state, path.join(one.state, 'archive')].map((dir) => statSync(dir).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700]);
  });

  test.each([['sync'], ['plan'], ...looking])('that is a file: %s is 78 and the file stays', async (...args) => {
    const one = await world();
    writeFileSync(one.state, 'notes');
    const { exit, json } = await one.run<{ error: { message: string } }>(...args);
    expect(exit).toBe(78);
    expect(json.error.message).toContain(one.state);
    expect(readFileSync(one.state, 'utf8')).toBe('notes');
  });

  test('with what a killed plan and a killed sync left behind is cleaned by the next sync', async () => {
    const one = await servedWorld();
    // No process has this number.
    const scratch = path.join(one.state, 'scratch-4194305');
    mkdirSync(scratch);
    writeFileSync(path.join(scratch, 'buffer.db'), 'x');
    const alive = `scratch-${process.ppid}`;
    mkdirSync(path.join(one.state, alive));
    writeFileSync(path.join(one.state, 'archive', 'draft-4194305'), 'x');
    await one.run('sync', '--force');
    expect(readdirSync(one.state).filter((name) => name.startsWith('scratch'))).toEqual([alive]);
    expect(readdirSync(path.join(one.state, 'archive')).filter((name) => name.startsWith('draft'))).toEqual([]);
  });
});

describe('a snapshot in the archive that is damaged', () => {
  const fileWounds: typeof damages = [
    ...damages,
    ['wrong in its middle', (target) => overwrite(target, { at: Math.floor(statSync(target).size * 0.7), bytes: 20 })],
    ['wrong in its title', (target) => overwrite(target, { at: 5, bytes: 4 })],
  ];
  const allWounds: typeof damages = [
    ...fileWounds,
    ['wrong in its counts', (target) => writeFileSync(target, miscounted(readFileSync(target)))],
  ];

  /** Push 1 is whole, push 2 is not. */
  async function woundedWorld(damage: (target: string) => void): Promise<World> {
    const one = await servedWorld();
    one.write('sales.csv', { north: '1.75', south: '2' });
    await one.run('sync');
    const digest = one.service.posts[1]?.digest ?? '';
    damage(path.join(one.state, 'archive', `${digest}.snapshot`));
    return one;
  }

  test.each(allWounds)('(%s) does not stop what the sources say', async (_name, damage) => {
    const one = await woundedWorld(damage);
    one.write('sales.csv', { north: '1.80', south: '2' });
    expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
    expect(holds(one)).toEqual({ north: '1.80', south: '2', office: '300' });
    // The buffer is whole.
    expect(asideIn(one)).toEqual([]);
  });

  test.each(allWounds)('(%s) is no change', async (_name, damage) => {
    const one = await woundedWorld(damage);
    expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'unchanged' } });
    expect(await one.run('plan')).toMatchObject({ exit: 0 });
    expect(await one.run('sync', '--force')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
    expect(holds(one)).toEqual({ north: '1.75', south: '2', office: '300' });
    expect(one.service.posts.at(-1)?.digest).toBe(one.service.posts[1]?.digest);
  });

  test.each(fileWounds)('(%s) is refused by what needs it, and others can be had', async (_name, damage) => {
    const one = await woundedWorld(damage);
    expect(await one.run('history')).toMatchObject({ exit: 0, json: { pushes: [{ id: 2 }, { id: 1 }] } });
    const back = await one.run('rollback', '2');
    expect([64, 75], JSON.stringify(back.json)).toContain(back.exit);
    expect([64, 75]).toContain((await one.run('diff', '1', '2')).exit);
    expect(one.service.posts).toHaveLength(2);
    expect(await one.run('explain', 'north', '2026-01')).toMatchObject({
      exit: 0,
      json: { points: [{ value: '1.75' }] },
    });
    expect(await one.run('rollback', '1')).toMatchObject({ exit: 0 });
    expect(holds(one)).toEqual({ north: '1.50', south: '2', office: '300' });
  });

  test.each(allWounds)(
    '(%s) while the buffer is lost and a share is away: nothing is deleted',
    async (_name, damage) => {
      const one = await woundedWorld(damage);
      rmSync(file(one, 'buffer'));
      one.unplug('rents.csv');
      one.write('sales.csv', { north: '1.80', south: '2' });
      const { exit } = await one.run('sync');
      expect([3, 4, 75]).toContain(exit);
      expect(holds(one)).toMatchObject({ office: '300' });
    },
  );
});

/** One driver more than there are, in the line that says how many. */
function miscounted(bytes: Buffer): Buffer {
  const title = bytes.subarray(0, 128).toString('latin1');
  const wrong = title.replace(/"bytes":(\d)/, (_match, digit: string) => `"bytes":${(Number(digit) % 9) + 1}`);
  return Buffer.concat([Buffer.from(wrong, 'latin1'), bytes.subarray(128)]);
}
