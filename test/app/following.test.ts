/** What an agent that follows another one's lead goes by. */
import { expect, test } from 'vitest';
import { followingPass } from '../../src/app/shared/follow.ts';
import { followingLedger } from '../../src/app/shared/following-ledger.ts';
import { gridFile, ids, longSource, world } from '../support/world.ts';

const never = new AbortController().signal;

test('a rollback that it saw before the one that leads had gone back holds no longer than that one says', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('sales.csv') } },
    files: { 'sales.csv': gridFile(ids(1, 300)) },
  });
  const { push: first } = await w.sync();
  await w.write('sales.csv', gridFile(ids(1, 303)));
  await w.sync();
  await w.rollback(1);
  await w.open(async (deps) => {
    const { ledger } = deps;
    const follower = { ...deps, ledger: followingLedger(ledger) };
    const { rolledBack } = await ledger.state();
    // As it is between the acknowledgement and the end of going back.
    await ledger.setState({ rolledBack: { ...rolledBack!, isRestored: false } });
    const during = await followingPass(follower, {}, never);
    expect(during).toMatchObject({
      said: { would: first && { digest: first.digest } },
      sources: [{ state: 'unchanged' }],
    });
    await ledger.setState({ rolledBack: undefined });
    const after = await followingPass(follower, {}, never);
    expect(after).toMatchObject({ said: { differs: { push: 3, drivers: 3 } }, sources: [{ state: 'accepted' }] });
  });
});
