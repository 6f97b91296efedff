/** What an agent says it would push, for the other agents of its ledger. */
import { expect, test } from 'vitest';
import { wouldPush } from '../../src/app/shared/would-push.ts';
import { damageSnapshot } from '../support/damage.ts';
import { gridFile, ids, longSource, world } from '../support/world.ts';

/** A push, and another one that the service refused. */
async function refused() {
  const w = await world({
    config: { sources: { sales: longSource('sales.csv') } },
    files: { 'sales.csv': gridFile(ids(1, 300)) },
  });
  const { push: first } = await w.sync();
  await w.write('sales.csv', gridFile(ids(1, 303)));
  w.emulator.faults({ status: 400 });
  const { push: second } = await w.sync();
  return Object.assign(w, { first: first?.digest ?? '', second: second?.digest ?? '' });
}

test('differs from what was pushed last by its drivers and points', async () => {
  await using w = await refused();
  const said = await w.open((deps) => wouldPush(deps, []));
  expect(said).toMatchObject({ would: { digest: w.second }, differs: { push: 1, drivers: 3 } });
});

test('differs by all of them where what was pushed last is damaged here', async () => {
  await using w = await refused();
  damageSnapshot(w.state, w.first);
  const said = await w.open((deps) => wouldPush(deps, []));
  expect(said).toMatchObject({ would: { digest: w.second }, differs: { push: 1, drivers: 303 } });
});

test('is built again where it is damaged itself', async () => {
  await using w = await refused();
  damageSnapshot(w.state, w.second);
  const said = await w.open((deps) => wouldPush(deps, []));
  expect(said).toMatchObject({ would: { digest: w.second }, differs: { push: 1, drivers: 3 } });
});
