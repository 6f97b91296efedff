/** Whether agents of one ledger see the same data, and how that is said. */
import { describe, expect, test } from 'vitest';
import { differsAfterMs, differsFromLeader } from '../../src/core/election/differing.ts';
import type { AgentSaid, SharedAgent, SharedView } from '../../src/core/election/lead.ts';
import { agentWords, isStrange } from '../../src/core/election/words.ts';

const pushed: AgentSaid = { would: { digest: 'pushed', drivers: 2, points: 6 }, sources: [] };
const differs = { push: 41, drivers: 1, points: 3 };
const newer: AgentSaid = { would: { digest: 'newer', drivers: 2, points: 6 }, differs, sources: [] };
const sales = [{ name: 'sales', state: 'unread' as const, reason: 'it is gone' }];

function agent(id: string, said: AgentSaid, of: Partial<SharedAgent> = {}): SharedAgent {
  return { id, host: id, pid: 1, sinceMs: 0, seenMs: 0, isSilent: false, hasLeadersConfig: true, said, ...of };
}

function viewOf(agents: readonly SharedAgent[]): SharedView {
  return { term: 1, leader: { id: 'a', host: 'a', pid: 1, sinceMs: 0 }, address: undefined, agents };
}

describe('an agent that follows', () => {
  test.each<[string, AgentSaid, SharedAgent, boolean, string]>([
    ['sees the same', pushed, agent('b', pushed), false, 'would push the same'],
    [
      'sees the same newer data, which waits for the schedule',
      newer,
      agent('b', newer),
      false,
      'would push other data than push 41: 1 driver, 3 points, as the agent that leads',
    ],
    [
      'sees other data than was pushed',
      pushed,
      agent('b', newer),
      true,
      'would push other data than push 41: 1 driver, 3 points',
    ],
    [
      'still sees what was pushed last',
      newer,
      agent('b', pushed),
      true,
      'would push what was pushed last, and the agent that leads has other data',
    ],
    [
      'cannot read a source, and so would push what was accepted',
      pushed,
      agent('b', { ...pushed, sources: sales }),
      true,
      'would push the same; cannot read sales (it is gone)',
    ],
    [
      'cannot read what nobody can read',
      { ...pushed, sources: sales },
      agent('b', { ...pushed, sources: sales }),
      false,
      'would push the same; cannot read sales (it is gone)',
    ],
    [
      'holds one for a reason',
      pushed,
      agent('b', { ...pushed, sources: [{ name: 'rents', state: 'held', reason: 'it turned empty' }] }),
      true,
      'would push the same; holds rents (it turned empty)',
    ],
    [
      'has another config',
      pushed,
      agent('b', pushed, { hasLeadersConfig: false }),
      true,
      'has another config than the agent that leads; would push the same',
    ],
    ['has read nothing yet', pushed, agent('b', { sources: [] }), false, 'has read nothing yet'],
    [
      'is not heard of any more',
      pushed,
      agent('b', newer, { isSilent: true }),
      false,
      'has not been heard of for a minute; would push other data than push 41: 1 driver, 3 points',
    ],
  ])('%s', (_name, leaders, ...[follower, isDifferent, text]) => {
    const leader = agent('a', leaders);
    const view = viewOf([leader, follower]);
    expect(differsFromLeader(follower, view)).toBe(isDifferent);
    expect(agentWords(follower, view)).toBe(text);
    // The one that leads differs from nobody, and where nobody leads there is nothing to differ from.
    expect(differsFromLeader(leader, view)).toBe(false);
    expect(differsFromLeader(follower, { ...view, leader: undefined })).toBe(false);
  });

  test('that sees data which all see and nobody has pushed yet is nothing to look at', () => {
    const view = viewOf([agent('a', newer), agent('b', newer)]);
    expect(view.agents.map((one) => isStrange(one, view))).toEqual([false, false]);
  });
});

test('a difference is normal for two minutes, and for two looks at the slowest source', () => {
  expect(differsAfterMs([])).toBe(120_000);
  const every = (ms: number): { poll: { kind: 'every'; ms: number } } => ({ poll: { kind: 'every', ms } });
  expect(differsAfterMs([every(1000), every(60_000)])).toBe(120_000);
  expect(differsAfterMs([every(1000), every(3_600_000)])).toBe(7_200_000);
  expect(differsAfterMs([{ poll: { kind: 'cron', expression: '0 6 * * *' } }])).toBe(120_000);
});

test('whose passes break says so, with what it said before', () => {
  const broken = { sinceMs: Date.UTC(2026, 10, 27, 9), why: 'the disk is full' };
  const view = viewOf([agent('a', { ...pushed, broken })]);
  const words = 'its passes break since 2026-11-27T09:00:00.000Z: the disk is full; would push the same';
  expect(agentWords(view.agents[0]!, view)).toBe(words);
  expect(isStrange(view.agents[0]!, view)).toBe(true);
});
