/** The first push to an address, where it waits for approval. */
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { damageSnapshot } from '../support/damage.ts';
import { gridFile, ids, longSource, world } from '../support/world.ts';

const cautious = { sources: { sales: longSource('sales.csv') }, guard: { firstPush: 'approve' } };

test('the first push waits for approval of its plan', async () => {
  await using w = await world({ config: cautious, files: { 'sales.csv': gridFile(ids(1, 3)) } });
  const plan = await w.plan();
  expect(plan).toMatchObject({ exit: 4, drivers: 3 });
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  expect((await w.status()).held).toMatchObject([{ digest: plan.digest }]);
  expect(w.requests()).toEqual([]);
  await w.approve(plan.digest.slice(0, 8));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { digest: plan.digest } });
  expect((await w.status()).held).toEqual([]);
  await w.write('sales.csv', gridFile(ids(1, 4)));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
});

test('is held since the pass that held it first, however many come after it', async () => {
  await using w = await world({ config: cautious, files: { 'sales.csv': gridFile(ids(1, 3)) } });
  await w.sync();
  const [before] = (await w.status()).held;
  await w.clock.advance(300_000);
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  expect((await w.status()).held).toEqual([before]);
});

test('a snapshot that is damaged while it waits is built again', async () => {
  await using w = await world({ config: cautious, files: { 'sales.csv': gridFile(ids(1, 300)) } });
  await w.sync();
  const { digest } = await w.plan();
  damageSnapshot(w.state, digest);
  expect(await w.plan()).toMatchObject({ exit: 4, digest });
  damageSnapshot(w.state, digest);
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  await w.approve(digest);
  damageSnapshot(w.state, digest);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { digest } });
});

test('approves what deletes no more: a snapshot with more drivers passes, one with fewer does not', async () => {
  await using w = await world({ config: cautious, files: { 'sales.csv': gridFile(ids(1, 6)) } });
  await w.sync();
  await w.approve((await w.plan()).digest);
  await w.write('sales.csv', gridFile(ids(2, 6)));
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  expect((await w.status()).approvals).toMatchObject([{ state: 'dropped' }]);
  await w.approve((await w.plan()).digest);
  await w.write('sales.csv', gridFile(ids(2, 8)));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0, push: { drivers: 7 } });
});

test('another address waits again', async () => {
  await using w = await world({ config: cautious, files: { 'sales.csv': gridFile(ids(1, 3)) } });
  await w.approve((await w.plan()).digest);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  await using second = await startEmulator();
  await w.reconfigure({ ...cautious, destination: { url: second.url } });
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  await w.approve((await w.plan()).digest);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(second.drivers()).toHaveLength(3);
});
