/** A damaged snapshot of the archive: no pass stops for it, and no command gives it out. */
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openArchive, snapshotFileSha256 } from '../../src/edges/state/archive.ts';
import { asideIn, damages, overwrite } from '../support/damage.ts';
import { type World, file, holds, servedWorld } from '../support/state-world.ts';

describe('a snapshot in the archive that is damaged', () => {
  const fileWounds: typeof damages = [
    ...damages,
    ['wrong in its middle', (target) => overwrite(target, { at: Math.floor(statSync(target).size * 0.7), bytes: 20 })],
    ['wrong in its title', (target) => overwrite(target, { at: 5, bytes: 4 })],
    ['wrong in the name of a count', (target) => retitle(target, /bytes/, 'bytec')],
    ['wrong behind its counts', (target) => retitle(target, / $/, '!')],
  ];
  const countWounds: typeof damages = [
    ['of bytes', (target) => retitle(target, /(?<="bytes":)\d/, nextDigit)],
    ['of points', (target) => retitle(target, /(?<="points":)\d/, nextDigit)],
    ['of drivers', (target) => retitle(target, /(?<="drivers":)\d/, nextDigit)],
  ];
  const allWounds: typeof damages = [...fileWounds, ['wrong in its counts', countWounds[0]![1]]];

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
    expect([64, 65], JSON.stringify(back.json)).toContain(back.exit);
    expect([64, 65]).toContain((await one.run('diff', '1', '2')).exit);
    expect(one.service.posts).toHaveLength(2);
    expect(await one.run('explain', 'north', '2026-01')).toMatchObject({
      exit: 0,
      json: { points: [{ value: '1.75' }] },
    });
    expect(await one.run('rollback', '1')).toMatchObject({ exit: 0 });
    expect(holds(one)).toEqual({ north: '1.50', south: '2', office: '300' });
  });

  test.each(countWounds)('(wrong in its count %s) is not rolled back to', async (_name, damage) => {
    const one = await woundedWorld(damage);
    expect(await one.run('rollback', '2')).toMatchObject({ exit: 65, json: { error: { code: 'snapshot.damaged' } } });
    expect(one.service.posts).toHaveLength(2);
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

const nextDigit = (digit: string): string => String((Number(digit) % 9) + 1);

/** Changes the line that says how much there is. */
function retitle(target: string, from: RegExp, to: string | ((found: string) => string)): void {
  const bytes = readFileSync(target);
  const title = bytes.subarray(0, 128).toString('latin1');
  const wrong = title.replace(from, typeof to === 'string' ? () => to : to);
  expect(wrong).toHaveLength(128);
  expect(wrong).not.toBe(title);
  writeFileSync(target, Buffer.concat([Buffer.from(wrong, 'latin1'), bytes.subarray(128)]));
}

// A link that leads to itself: the system answers neither yes nor no, as a disk that fails does.
test('a snapshot of which the disk does not say whether it is there is not gone', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'driver-sync-archive-'));
  const digest = 'a'.repeat(64);
  symlinkSync(`${digest}.snapshot`, path.join(folder, `${digest}.snapshot`));
  const failed = { code: 'state.full', message: expect.stringContaining(folder), hint: expect.any(String) };
  await expect(openArchive(folder).open(digest)).rejects.toMatchObject(failed);
  expect(() => snapshotFileSha256(folder, digest)).toThrow(expect.objectContaining(failed));
  await expect(openArchive(folder).open('b'.repeat(64))).resolves.toBeUndefined();
});
