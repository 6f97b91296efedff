/**
 * One history of three agents at a real database: their statements are held up before and after they count, their connections are
 * cut, and they fall asleep between any two steps. The receiver keeps what was sent whole.
 */
import { setTimeout as nap } from 'node:timers/promises';
import type { Seen } from '../../src/core/election/doubt.ts';
import { isAgentError } from '../../src/core/errors.ts';
import type { PushResult } from '../../src/core/ports.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import { systemClock } from '../../src/edges/clock.ts';
import { type SharedPlace, SharedDatabase, type SqlClient } from '../../src/edges/shared/database.ts';
import { SharedLead } from '../../src/edges/shared/lead.ts';
import { leadRows } from '../../src/edges/shared/lead-rows.ts';
import { type SharedLedger, sharedLedger } from '../../src/edges/shared/ledger.ts';
import { ledgerSchema } from '../../src/edges/shared/schema.ts';
import { memoryLog } from './memory-log.ts';

const leaseMs = 600;
const lastsMs = 3500;
const address = 'https://drivers.example.com';

export interface SharedHistory {
  readonly terms: number;
  readonly sent: number;
  readonly held: number;
  readonly cut: number;
  readonly asleep: number;
  readonly refused: number;
}

interface Sent {
  readonly push: number;
  readonly term: number;
}

/** @throws Error with the story where a promise is broken */
export async function playShared(place: SharedPlace, random: () => number): Promise<SharedHistory> {
  const counts = { held: 0, cut: 0, asleep: 0, refused: 0 };
  const sent: Sent[] = [];
  const stop = new AbortController();
  const first = new SharedDatabase(place);
  await prepare(first);
  const agents = ['a', 'b', 'c'].map((name) => openAgent({ ...place, connect: troubled(place, counts, random) }, name));
  const works = agents.map((agent) => work(agent, { agents, sent, counts, random, stop: stop.signal }));
  await nap(lastsMs);
  stop.abort();
  const failures = (await Promise.allSettled(works)).flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  for (const { lead, database } of agents) {
    await lead[Symbol.asyncDispose]();
    await database.close();
  }
  try {
    if (failures.length > 0) throw failures[0];
    const [row] = await first.all<{ term: number }>('SELECT term FROM ~lead');
    await checkChain(first);
    return { terms: row?.term ?? 0, sent: sent.length, ...counts };
  } finally {
    await first.close();
  }
}

/** Where many histories are played at once, a server may take longer than an agent waits for it. */
async function prepare(database: SharedDatabase): Promise<void> {
  for (let triesLeft = 9; ; triesLeft--) {
    try {
      return await ledgerSchema(database).ensure();
    } catch (error) {
      if (triesLeft === 0 || !isAgentError(error, 'ledger.unreachable')) throw error;
    }
  }
}

interface Agent {
  readonly name: string;
  readonly database: SharedDatabase;
  readonly lead: SharedLead;
  readonly ledger: SharedLedger;
}

function openAgent(place: SharedPlace, name: string): Agent {
  const database = new SharedDatabase(place);
  let seen: Seen | undefined;
  const lead = new SharedLead(leadRows(database), {
    host: name,
    pid: 1,
    config: 'one',
    address,
    leaseMs,
    clock: systemClock,
    log: memoryLog(),
    seen: {
      get: () => seen,
      set: (changed) => void (seen = { term: 0, ...seen, ...changed }),
    },
    schema: ledgerSchema(database),
    prepare: async () => undefined,
    changed: () => undefined,
  });
  lead.go();
  return { name, database, lead, ledger: sharedLedger(database, () => lead.term()) };
}

/** Connections whose statements wait before they count, or whose answers do, and that are cut now and then. */
function troubled(
  place: SharedPlace,
  counts: { held: number; cut: number },
  random: () => number,
): SharedPlace['connect'] {
  return async (signal) => {
    const client = await place.connect(signal);
    const hold = async (): Promise<void> => {
      if (random() >= 0.03) return;
      counts.held++;
      await nap(random() * 2 * leaseMs);
    };
    return {
      ...client,
      isLost: () => client.isLost(),
      end: () => client.end(),
      destroy: () => client.destroy(),
      async query(sql, values) {
        await hold();
        if (random() < 0.01) {
          counts.cut++;
          client.destroy();
        }
        const result = await client.query(sql, values);
        await hold();
        return result;
      },
    } satisfies SqlClient;
  };
}

interface Work {
  readonly agents: readonly Agent[];
  readonly sent: Sent[];
  readonly counts: { asleep: number; refused: number };
  readonly random: () => number;
  readonly stop: AbortSignal;
}

async function work(agent: Agent, { agents, sent, counts, random, stop }: Work): Promise<void> {
  const { lead } = agent;
  const sleep = async (): Promise<void> => {
    if (random() >= 0.1) return;
    counts.asleep++;
    await nap(random() * 2 * leaseMs);
  };
  while (!stop.aborted) {
    await nap(20 + random() * 100);
    if (!lead.isLeading()) {
      lead.follow();
      continue;
    }
    const { signal } = lead;
    const term = lead.term()?.term ?? 0;
    try {
      const push = await begin(agent);
      await sleep();
      await nap(random() * 300);
      await sleep();
      signal.throwIfAborted();
      await lead.confirm();
      signal.throwIfAborted();
      // From here to the next line nothing else runs: these are the last bytes.
      const other = agents.find((one) => one !== agent && one.lead.isLeading());
      if (other !== undefined) throw new Error(`${agent.name} sends push ${push} while ${other.name} leads`);
      const newer = sent.find((one) => one.push > push || one.term > term);
      if (newer !== undefined)
        throw new Error(`push ${push} of term ${term} is sent after push ${newer.push} of ${newer.term}`);
      sent.push({ push, term });
      const taken: PushResult = { outcome: 'acknowledged', status: 200, maybeTaken: false };
      await agent.ledger.pushes.acknowledge(push, taken, { atMs: Date.now(), carried: [], state: {} });
    } catch (error) {
      if (!isAgentError(error) && error !== signal.reason) throw error;
      counts.refused++;
    }
  }
}

async function begin({ ledger }: Agent): Promise<number> {
  await ledger.pushes.endOrphans(Date.now());
  const counted = { drivers: 1, points: 1, bytes: 1, changes: noChanges, shouldDeleteMissing: true };
  return ledger.pushes.begin({ atMs: Date.now(), address, digest: 'd', ...counted });
}

/** Each record follows from the one before, and at most one push is open. */
async function checkChain(database: SharedDatabase): Promise<void> {
  const rows = await database.all<{ n: number }>('SELECT n FROM ~chain ORDER BY n');
  const gap = rows.findIndex(({ n }, index) => n !== index + 1);
  if (gap >= 0) throw new Error(`record ${gap + 1} of the chain is missing`);
  const open = await database.all<{ id: number }>('SELECT id FROM ~push WHERE outcome IS NULL');
  if (open.length > 1) throw new Error(`pushes ${open.map(({ id }) => id).join(' and ')} are open`);
}
