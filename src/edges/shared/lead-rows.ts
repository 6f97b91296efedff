/** The rows of the election: who leads, and the agents. All moments are of the database's clock. */
import { AgentError } from '../../core/errors.ts';
import type { LedgerState } from '../../core/ledger.ts';
import { doubtOf } from '../../core/election/doubt.ts';
import type { LeadRow } from '../../core/election/election.ts';
import type { AgentSaid, SharedView } from '../../core/election/lead.ts';
import type { Claim, Claimed, LeadRows, Looked, Renewed, Telling, Term } from '../../core/election/rows.ts';
import type { SharedDatabase, Statements } from './database.ts';
import { sqlState } from './failures.ts';
import { getRecord, setRecord } from './record.ts';

const now = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`;
const left = `(extract(epoch FROM deadline - clock_timestamp()) * 1000)::bigint AS "leftMs"`;
/** The same for the same moment, on any server and for any session. */
const deadline = '(extract(epoch FROM deadline) * 1000000)::bigint';
const leaseOfHolder = `(SELECT (said::json ->> 'leaseMs')::bigint FROM ~agent WHERE id = holder) AS "leaseMs"`;
const began = `(extract(epoch FROM since) * 1000)::bigint AS "sinceMs"`;
/** The timeline changes with every promotion, and is known at once, unlike that of the last checkpoint. */
const timeline = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

interface AgentRow {
  readonly id: string;
  readonly config: string;
  readonly seenAgoMs: number;
  readonly isAble: boolean;
}

const agoMs = `(extract(epoch FROM clock_timestamp() - seen) * 1000)::bigint AS "seenAgoMs"`;
/** It has read its sources, and its passes do not break. */
const able = `(said::json -> 'would' IS NOT NULL AND said::json -> 'broken' IS NULL) AS "isAble"`;

/** The moment by the clock of the database. */
export async function nowMsOf(statements: Statements): Promise<number> {
  const [row] = await statements.all<{ readonly nowMs: number }>(`SELECT ${now}`);
  return row!.nowMs;
}

/** Who leads, and what is asked of whoever does. */
export async function look(database: SharedDatabase): Promise<Looked> {
  const sql = `SELECT term, holder, ${left}, ${deadline} AS deadline, ${leaseOfHolder}, config, address, cluster, wakes, ${now},
    (SELECT coalesce(max(id), 0) FROM ~request) || '/' || (SELECT coalesce(max(id), 0) FROM ~approval) AS asked,
    (SELECT n || ':' || sha256 FROM ~chain ORDER BY n DESC LIMIT 1) AS head, (SELECT version FROM ~version) AS version
    FROM ~lead`;
  type Row = Pick<LeadRow, 'term' | 'leftMs' | 'deadline'> &
    Omit<Looked, 'row' | 'agents'> &
    Record<'holder' | 'config' | 'address', string | null> &
    Record<'leaseMs', number | null>;
  const [row] = await database.all<Row>(sql);
  const { term, holder, leftMs, deadline: stands, leaseMs, config, address, ...rest } = row!;
  return {
    ...rest,
    row: {
      term,
      leftMs,
      deadline: stands,
      leaseMs: leaseMs ?? undefined,
      holder: holder ?? undefined,
      config: config ?? undefined,
      address: address ?? undefined,
    },
    agents: await database.all<AgentRow>(`SELECT id, config, ${agoMs}, ${able} FROM ~agent`),
  };
}

/** Takes over where the deadline has passed, or is the overdue one. With a doubt, which is recorded in the same transaction. */
export async function claim(database: SharedDatabase, by: Claim): Promise<Claimed> {
  const system = await systemOf(database);
  return database.transaction(async (statements) => {
    const free = `SELECT term, cluster, ${timeline} AS timeline, ${now} FROM ~lead
      WHERE (deadline <= clock_timestamp() OR holder IS NULL OR holder = $1 OR (term = $3 AND ${deadline} = $4))
      AND (SELECT version FROM ~version) = $2 FOR UPDATE`;
    type Row = {
      readonly term: number;
      readonly cluster: string | null;
      readonly timeline: string;
      readonly nowMs: number;
    };
    const [row] = await statements.all<Row>(
      free,
      by.holder,
      by.version,
      by.overdue?.term ?? null,
      by.overdue?.deadline ?? null,
    );
    if (row === undefined) {
      return { nowMs: await nowMsOf(statements), term: undefined, cluster: '', doubt: undefined };
    }
    const { givenBack, lastDoubt } = await getRecord(statements);
    if (givenBack !== undefined && by.isCopying !== true) throw givenBackTo(givenBack);
    const cluster = `${system}/${row.timeline}`;
    const before = row.cluster ?? undefined;
    const doubt = doubtOf(by, { term: row.term, before, cluster, lastDoubt });
    const sql = `UPDATE ~lead SET term = greatest(term, $1) + 1, holder = $2, host = $3, pid = $4, config = $5, address = $6,
      cluster = $7, since = clock_timestamp(), deadline = clock_timestamp() + $8 * interval '1 millisecond'
      RETURNING term`;
    const values = [by.seenTerm, by.holder, by.host, by.pid, by.config, by.address, cluster, by.leaseMs];
    const [won] = await statements.all<{ term: number }>(sql, ...values);
    const { nowMs } = row;
    if (doubt !== undefined) {
      await setRecord(statements, {
        doubt: { sinceMs: nowMs, why: doubt },
        lastDoubt: { sinceMs: nowMs, term: won!.term, holder: by.holder },
      } satisfies LedgerState);
    }
    return { nowMs, term: won!.term, cluster, doubt };
  });
}

export function givenBackTo({ sinceMs, host, state }: NonNullable<LedgerState['givenBack']>): AgentError {
  const since = new Date(sinceMs).toISOString();
  return new AgentError(
    'ledger.refused',
    `the ledger was given back to the agent in ${state} on ${host}, at ${since}`,
    {
      hint: 'that agent pushes alone now; "driver-sync ledger take-over" there brings the ledger here again',
    },
  );
}

/** Whether the chain has a record, as `N:SHA256`. */
export async function hasRecord(database: SharedDatabase, record: string): Promise<boolean> {
  const [n = '', sha256 = ''] = record.split(':');
  return (await database.all('SELECT 1 FROM ~chain WHERE n = $1 AND sha256 = $2', Number(n), sha256)).length > 0;
}

/** '' where this user may not read it. */
async function systemOf(database: SharedDatabase): Promise<string> {
  try {
    const sql = 'SELECT system_identifier::text AS system FROM pg_control_system()';
    return (await database.all<{ system: string }>(sql))[0]?.system ?? '';
  } catch (error) {
    if (sqlState(error) !== '42501') throw error;
    return '';
  }
}

export async function renew(database: SharedDatabase, by: Parameters<LeadRows['renew']>[0]): Promise<Renewed> {
  const [n, sha256] = by.head?.split(':') ?? [];
  const sql = `UPDATE ~lead SET deadline = clock_timestamp() + $3 * interval '1 millisecond', config = $4, address = $5
    WHERE holder = $1 AND term = $2 RETURNING ${timeline} AS timeline, ${now},
    $6::bigint IS NULL OR EXISTS (SELECT 1 FROM ~chain WHERE n = $6 AND sha256 = $7) AS "hasHead"`;
  const [row] = await database.all<{ timeline: string; nowMs: number; hasHead: boolean }>(
    sql,
    by.holder,
    by.term,
    by.leaseMs,
    by.config,
    by.address,
    n === undefined ? null : Number(n),
    sha256 ?? null,
  );
  if (row !== undefined) return { ...row, isHeld: true };
  return { nowMs: await nowMsOf(database), isHeld: false, timeline: '', hasHead: true };
}

/** The row stays, and its term with it. */
export async function resign(database: SharedDatabase, self: string, mine: Term | undefined): Promise<void> {
  if (mine !== undefined) {
    const sql = 'UPDATE ~lead SET deadline = clock_timestamp(), holder = NULL WHERE holder = $1 AND term = $2';
    await database.run(sql, mine.holder, mine.term);
  }
  await database.run('DELETE FROM ~agent WHERE id = $1', self);
}

/** Says what an agent is and would push. @param oldMs agents that have been silent for longer are forgotten */
async function tell(database: SharedDatabase, by: Telling, oldMs: number | undefined): Promise<void> {
  const sql = `INSERT INTO ~agent (id, host, pid, config, since, seen, said)
    VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5)
    ON CONFLICT (id) DO UPDATE SET config = excluded.config, seen = excluded.seen, said = excluded.said`;
  await database.run(sql, by.id, by.host, by.pid, by.config, by.said);
  if (oldMs === undefined) return;
  // Also those that were seen in the future: the clock went back, and they are gone since.
  const old = `DELETE FROM ~agent WHERE seen < clock_timestamp() - $1 * interval '1 millisecond'
    OR seen > clock_timestamp() + $1 * interval '1 millisecond'`;
  await database.run(old, oldMs);
}

/** All of them at one database. */
export function leadRows(database: SharedDatabase): LeadRows {
  return {
    label: database.label,
    look: () => look(database),
    claim: (by) => claim(database, by),
    renew: (by) => renew(database, by),
    resign: (self, mine) => resign(database, self, mine),
    tell: (by, oldMs) => tell(database, by, oldMs),
    hasRecord: (record) => hasRecord(database, record),
    state: () => getRecord(database),
  };
}

/** Asks the agent that leads for a pass. Gives the moment. */
export async function wakeLeader(database: SharedDatabase): Promise<number> {
  const [row] = await database.all<{ nowMs: number }>(`UPDATE ~lead SET wakes = wakes + 1 RETURNING ${now}`);
  return row!.nowMs;
}

/** How things stand among the agents, for whoever looks. */
export async function view(database: SharedDatabase): Promise<SharedView> {
  type Row = {
    term: number;
    holder: string | null;
    host: string;
    pid: number;
    sinceMs: number;
    leftMs: number;
    address: string | null;
    config: string | null;
    leaseMs: number | null;
  };
  const [lead] = await database.all<Row>(
    `SELECT term, holder, host, pid, ${began}, ${left}, ${leaseOfHolder}, address, config FROM ~lead`,
  );
  const { term, holder, host, pid, leftMs, leaseMs, address, config } = lead!;
  // More is left than a term ever has: the clock went back, and the holder has not renewed it since.
  const isOfBefore = leaseMs !== null && leftMs > leaseMs + 1000;
  const isLed = holder !== null && leftMs > 0 && !isOfBefore;
  const sql = `SELECT id, host, pid, config, ${began}, (extract(epoch FROM seen) * 1000)::bigint AS "seenMs", ${agoMs}, said
    FROM ~agent ORDER BY host, pid`;
  type Agent = Omit<AgentRow, 'isAble'> & { host: string; pid: number; sinceMs: number; seenMs: number; said: string };
  return {
    term,
    leader: isLed ? { id: holder, host, pid, sinceMs: lead!.sinceMs } : undefined,
    address: address ?? undefined,
    agents: (await database.all<Agent>(sql)).map(({ config: own, seenAgoMs, said, ...agent }) => ({
      ...agent,
      isSilent: Math.abs(seenAgoMs) > silentMs,
      hasLeadersConfig: config === null || own === config,
      said: JSON.parse(said) as AgentSaid,
    })),
  };
}

/** Longer than any lease is renewed after. */
const silentMs = 60_000;
