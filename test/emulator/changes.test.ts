/** The changes of the last push, as the console shows them. */
import { expect, onTestFinished, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { Service } from '../../src/emulator/service.ts';
import { at, driver } from '../support/emulator-world.ts';

const [march, april] = [at('2026-03-01T00:00:00Z'), at('2026-04-01T00:00:00Z')];

function world() {
  const service = new Service({});
  onTestFinished(() => service.close());
  const push = async (extDrivers: readonly unknown[], shouldDeleteMissing = true): Promise<number> => {
    const body = JSON.stringify({ shouldDeleteMissing, extDrivers });
    return (await service.fetch(new Request(`http://localhost${updatePath}`, { method: 'POST', body }))).status;
  };
  return { service, push };
}

test('a snapshot adds, changes and removes drivers, and what they were before is known', async () => {
  const { service, push } = world();
  const gone = driver('gone', `${march} 1`);
  const [same, moved] = [driver('same', `${march} 1`), driver('moved', `${march} 1`)];
  const more = driver('more', `${march} 1`);
  await push([gone, same, moved, more]);
  const status = await push([
    same,
    { ...moved, path: ['b'] },
    driver('more', `${march} 1`, `${april} 2`),
    driver('new'),
  ]);
  expect(status).toBe(200);
  const [logged] = service.log.all();
  expect(service.lastPush()).toEqual({
    record: expect.objectContaining({ id: logged?.id, sha256: logged?.sha256, status: 200 }),
    added: 1,
    changed: 2,
    removed: 1,
    before: new Map([
      ['new', undefined],
      ['more', more],
      ['moved', moved],
      ['gone', gone],
    ]),
  });
});

test('an update removes nothing, and equal points are no change', async () => {
  const { service, push } = world();
  const [a, b] = [driver('a', `${march} 1`, `${april} 2`), driver('b', `${march} 1`)];
  await push([a, b]);
  await push([driver('a', `${march} 1`)], false);
  expect(service.lastPush()).toMatchObject({ added: 0, changed: 0, removed: 0, before: new Map() });
  await push([driver('a', `${march} 7`)], false);
  expect(service.lastPush()).toMatchObject({ added: 0, changed: 1, removed: 0, before: new Map([['a', a]]) });
  expect(service.drivers()).toEqual([driver('a', `${march} 7`, `${april} 2`), b]);
});

test('everything is counted, and the first 500 drivers of each kind are told', async () => {
  const { service, push } = world();
  const many = (word: string) =>
    Array.from({ length: 600 }, (_, index) => driver(`${word}${String(index).padStart(3, '0')}`, `${march} 1`));
  await push(many('old'));
  await push(many('new'));
  const { added, removed, before } = service.lastPush() ?? {};
  expect({ added, removed, told: before?.size }).toEqual({ added: 600, removed: 600, told: 1_000 });
  expect([...(before?.keys() ?? [])].slice(499, 501)).toEqual(['new499', 'old000']);
});

test('the previous content of large drivers is kept up to a limit', async () => {
  const { service, push } = world();
  const large = (value: number) =>
    Array.from({ length: 8 }, (_, index) => driver(`d${index}`, `${march} ${value}.${'0'.repeat(500_000)}`));
  await push(large(1));
  await push(large(2));
  expect(service.lastPush()).toMatchObject({ changed: 8, before: { size: 4 } });
});

test('a refused push does not count as the last one, and a reset clears it', async () => {
  const { service, push } = world();
  await push([driver('a')]);
  expect(await push([7])).toBe(400);
  expect(service.lastPush()?.record.id).toBe(1);
  service.reset();
  expect(service.lastPush()).toBeUndefined();
});

test('one driver, and the paths of all, can be read without all points', async () => {
  const { service, push } = world();
  const a = driver('a', `${march} 1`);
  await push([driver('b'), a]);
  expect(service.driver('a')).toEqual(a);
  expect(service.driver('c')).toBeUndefined();
  expect(service.driverPaths()).toEqual([
    { id: 'a', path: ['a'] },
    { id: 'b', path: ['b'] },
  ]);
});
