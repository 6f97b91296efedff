/** The buffer lost or damaged: it is rebuilt, and the service loses nothing. */
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { asideIn, damages, manyMonths, wounds } from '../support/damage.ts';
import { pointsOf } from '../support/receiver.ts';
import { file, holds, servedWorld } from '../support/state-world.ts';

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
    const step = (isCampaign ? 3 : 9) * 4096;
    for (let at = 4096; at < size; at += step) {
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

  test.each([
    ['the name of a column', 'carried INTEGER', 'darried INTEGER'],
    ['the name of a table', 'TABLE reject (', 'TABLE sejeet ('],
    ['its state', '{"id":"', '{"id";"'],
    ['a summary', '{"drivers":', '{"drivers";'],
  ])('with a changed letter in %s is rebuilt, and read by nobody', async (_name, from, to) => {
    const one = await servedWorld();
    const bytes = readFileSync(file(one, 'buffer'), 'latin1');
    expect(bytes).toContain(from);
    writeFileSync(file(one, 'buffer'), bytes.replaceAll(from, to), 'latin1');
    for (const look of ['status', 'plan']) expect([0, 75], look).toContain((await one.run(look)).exit);
    one.write('sales.csv', { north: '1.75', south: '2' });
    // Where the report finds it out, the pass has pushed already, and the one on the new buffer has nothing to push.
    expect(await one.run('sync')).toMatchObject({ exit: 0 });
    expect(holds(one)).toEqual({ north: '1.75', south: '2', office: '300' });
    expect(asideIn(one)).not.toEqual([]);
  });
});
