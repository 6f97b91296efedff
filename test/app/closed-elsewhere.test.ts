/** Closed months that would change without a read of their source. */
import { expect, test } from 'vitest';
import { longFile, longSource, sourceOf, world } from '../support/world.ts';

const months = (value: number) =>
  Object.fromEntries(['2025-04', '2025-05', '2025-06', '2025-07'].map((month) => [month, value]));

test('of a source that left the config are named by the hold, and opened by its approval alone', async () => {
  const [a, b] = [longSource('a.csv'), longSource('b.csv')];
  const files = { 'a.csv': longFile({ A: months(1) }), 'b.csv': longFile({ B: months(2) }) };
  await using w = await world({ config: { lastClose: '2025-06', sources: { a, b } }, files });
  expect(await w.sync()).toMatchObject({ exit: 0 });
  await w.reconfigure({ lastClose: '2025-06', sources: { a } });
  const held = sourceOf(await w.sync(), 'b');
  expect(held).toMatchObject({
    state: 'held',
    reason: expect.stringMatching(
      /^the source left the config and 1 driver would be deleted; and 3 points of closed months of B would change \(2025-04, /,
    ) as string,
    findings: [{ kind: 'closed' }],
  });
  // More of its months are closed by now than when it was approved.
  await w.approve(held.digest ?? '');
  await w.reconfigure({ lastClose: '2025-07', sources: { a } });
  const again = sourceOf(await w.sync(), 'b');
  expect(again.reason).toContain('4 points of closed months of B would change');
  expect(w.points()).toHaveProperty('B');
  await w.approve(again.digest ?? '');
  expect(await w.sync()).toMatchObject({ exit: 0 });
  expect(w.points()).toEqual({ A: { '2025-04': '1', '2025-05': '1', '2025-06': '1', '2025-07': '1' } });
});
