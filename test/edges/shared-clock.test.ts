/** How far the clock of a shared ledger is ahead, as an agent knows it from answers that take their time. */
import { expect, test } from 'vitest';
import { ledgerSchema } from '../../src/edges/shared/schema.ts';
import { SharedDatabase } from '../../src/edges/shared/database.ts';
import { SharedLead } from '../../src/edges/shared/lead.ts';
import type { LeadRows, Looked } from '../../src/core/election/rows.ts';
import { handClock } from '../support/hand-clock.ts';
import { memoryLog } from '../support/memory-log.ts';

const label = 'postgres://db/ds';

/** An agent that another one leads, at a database whose clock is so far ahead of its own. */
function following(): {
  readonly lead: SharedLead;
  readonly look: (delays: Delays) => Promise<void>;
  database: { aheadMs: number };
} {
  const clock = handClock(new Date('2026-03-15T12:00:00Z'));
  const database = { aheadMs: 5000 };
  let delays: Delays = {};
  const row = { term: 1, holder: 'other', leftMs: 9000, deadline: 1, leaseMs: 15_000, config: undefined };
  const rows: Partial<LeadRows> = {
    label,
    async look(): Promise<Looked> {
      await clock.advance(delays.toMs ?? 0);
      const nowMs = database.aheadMs + clock.monotonicMs();
      await clock.advance(delays.fromMs ?? 0);
      return { nowMs, row, agents: [], asked: '', wakes: 0, head: '1:a', cluster: 'c/1', version: schema.version };
    },
    tell: async () => undefined,
    state: async () => ({}),
  };
  const schema = ledgerSchema(
    new SharedDatabase({ connect: () => Promise.reject(new Error('unused')), schema: 'ds', label }),
  );
  const lead = new SharedLead(rows as LeadRows, {
    host: 'here',
    pid: 1,
    config: 'one',
    address: 'https://service.test',
    leaseMs: 15_000,
    // It looks when it is told to, and not by itself.
    clock: { ...clock, sleep: () => new Promise(() => undefined) },
    log: memoryLog(),
    seen: { get: () => undefined, set: () => undefined },
    schema: { ...schema, ensure: async () => undefined },
    prepare: async () => undefined,
    changed: () => undefined,
  });
  return {
    lead,
    database,
    async look(now) {
      delays = now;
      await lead.begin();
    },
  };
}

interface Delays {
  /** Until the statement is carried out. */
  readonly toMs?: number;
  /** Until its answer is there. */
  readonly fromMs?: number;
}

test('a slow answer leaves it as it is, whichever way was slow', async () => {
  const { lead, look } = following();
  await look({});
  expect(lead.aheadMs).toBe(5000);
  for (const delays of [{ toMs: 440 }, { fromMs: 440 }, { toMs: 3000, fromMs: 10 }]) {
    await look(delays);
    expect(lead.aheadMs).toBe(5000);
  }
});

test('a quick answer corrects what a slow one left open, and a clock that was set is seen at once', async () => {
  const { lead, look, database } = following();
  await look({ toMs: 400 });
  expect(lead.aheadMs).toBe(5200);
  await look({});
  expect(lead.aheadMs).toBe(5000);
  database.aheadMs = -3_600_000;
  await look({ toMs: 20 });
  expect(lead.aheadMs).toBeCloseTo(-3_600_000, -2);
});
