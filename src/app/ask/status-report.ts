/** What `status` says: whether the agent runs, what the last pass and push came to, what is held, and what comes next. */
import type { AgentSaid } from '../../core/election/lead.ts';
import { differsFromLeader } from '../../core/election/differing.ts';
import { agentWords, isStrange, leaderWords } from '../../core/election/words.ts';
import type { Approval, LedgerState, PushRecord } from '../../core/ledger.ts';
import type { PassReport, SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';
import { nextPushOf as nextPush, repeatFromMs, waitsUntilMs } from '../loop/next-push.ts';
import { standingBlock } from '../push/blocked.ts';
import { whyRepeated } from '../push/repeat.ts';
import { unsureRollback } from '../push/unsure-rollback.ts';
import { mayStillLand } from '../push/send.ts';
import { type TellingReport, tellingReport } from '../telling/telling-report.ts';
import { type Decision, allDecisions } from './decisions.ts';
import { detailOf } from './history-report.ts';
import { standingSources } from './standing-sources.ts';

/** What an agent says of itself beside its stores. */
export interface AgentSigns {
  /** The one that holds the state directory. Its fields are `undefined` where it could not write them. */
  readonly holder: Holder | undefined;
  /** The last agent, where it was killed or crashed and none came after it. */
  readonly killed: (Holder & { readonly isLockGone?: boolean }) | undefined;
  /** The last pass of the loop, where it broke. */
  readonly broken: BrokenPass | undefined;
  /** When its loop had to move at the latest, in ms since 1970, where it has not. */
  readonly stalledSinceMs?: number | undefined;
  /** The config file is not what the agent has loaded. */
  readonly configDiffers: boolean;
  /** The agent loads another file than the one that is asked with. */
  readonly otherConfigFile?: string | undefined;
}

export interface Holder {
  readonly pid: number | undefined;
  readonly command: string | undefined;
  /** ISO 8601, UTC. */
  readonly since: string | undefined;
  readonly configLoadedAt?: string | undefined;
  /** Where agents share a ledger: its own among them. */
  readonly agentId?: unknown;
}

/** Why a pass ended before it had an outcome. */
export interface BrokenPass {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly exit: number;
  readonly reason: string;
  readonly hint?: string | undefined;
}

const weekMs = 7 * 86_400_000;
const decisionsShown = 5;

export interface HeldReport {
  readonly source: string;
  readonly digest: string;
  readonly reason: string;
  readonly since: string;
  readonly hint?: string | undefined;
  readonly approvable: boolean;
}

export interface LastPass {
  readonly at: string;
  /** `broken`: it ended before it had an outcome, for that reason. The sources are those of the last one that had one. */
  readonly outcome: PassReport['outcome'] | 'broken';
  readonly exit: number;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
}

export interface StatusReport {
  readonly agent: { pid: number | undefined; since: string | undefined; configLoadedAt: string | undefined } | null;
  /** The last agent, where it was killed or crashed and none came after it. */
  readonly killed?:
    | {
        readonly pid: number | undefined;
        readonly since: string | undefined;
        /** Somebody removed its lock: it may still run, and then it pushes nothing. */
        readonly isLockGone?: true;
      }
    | undefined;
  /** Since when the loop of the running agent stands still, by its own word: nothing is read or pushed. */
  readonly stalledSince?: string | undefined;
  /** The file is not what the running agent has loaded. */
  readonly configDiffers: boolean;
  /** The file that the running agent loads, where that is another one. */
  readonly otherConfigFile?: string | undefined;
  readonly lastPass?: LastPass | undefined;
  readonly sources: readonly SourceReport[];
  readonly held: readonly HeldReport[];
  readonly approvals: readonly { source: string; digest: string; state: string; why?: string | undefined }[];
  readonly lastPush?: {
    readonly id: number;
    readonly at: string;
    readonly outcome: string;
    readonly digest: string;
    readonly detail?: string | undefined;
    /** A rollback that was not acknowledged, and that nobody tries again where no agent runs: what the service may have, and what to do. */
    readonly hint?: string | undefined;
    /** Absent while the push is under way, and where the agent was killed meanwhile. */
    readonly endedAt?: string;
  };
  readonly lastAcknowledged?: { id: number; at: string; digest: string; drivers: number; points: number };
  readonly nextPush?: string | undefined;
  readonly nextPushWhy?: string | undefined;
  /** Since when accepted data waits for the next push. */
  readonly unpushedSince?: string | undefined;
  /** From when on the acknowledged snapshot is to be pushed once more, by a daemon or, where no rollback holds, the next sync. */
  readonly repeatFrom?: string | undefined;
  readonly repeatWhy?: string | undefined;
  /** Why nothing is pushed now. */
  readonly blocked?: { readonly reason: string; readonly hint?: string | undefined } | undefined;
  readonly rolledBackTo?: number | undefined;
  /** Those of the last week and those that wait, newest first: who, and why. */
  readonly decisions: readonly Decision[];
  /** What could not be told yet; absent where nobody is to be told. */
  readonly telling?: TellingReport | undefined;
  /** The newest record of the chain, as `N:SHA256`. */
  readonly head: string;
  /** Present where agents on several machines share a ledger. */
  readonly shared?: SharedReport | undefined;
}

export interface SharedReport {
  /** Counts up whenever another agent takes over. */
  readonly term: number;
  /** `null`: nobody leads now. */
  readonly leader: {
    readonly host: string;
    readonly pid: number;
    readonly since: string;
    /** It is the agent of this state directory. */
    readonly isThis: boolean;
  } | null;
  /** Who leads, in words. */
  readonly leads: string;
  /** Since when the ledger may have lost what was pushed last, and why; until the next push was approved. */
  readonly doubt?: { readonly since: string; readonly why: string } | undefined;
  /** One agent has the ledger for itself, and pushes alone. */
  readonly isGivenBack: boolean;
  readonly agents: readonly AgentReport[];
}

export interface AgentReport extends AgentSaid {
  readonly host: string;
  readonly pid: number;
  readonly since: string;
  readonly seen: string;
  /** It is the agent of this state directory. */
  readonly isThis: boolean;
  readonly leads: boolean;
  readonly hasLeadersConfig: boolean;
  /** It would do other than the agent that leads. */
  readonly differsFromLeader: boolean;
  /** How it stands, in words. */
  readonly text: string;
  /** Something about it is for a person to look at. */
  readonly isStrange: boolean;
}

export async function statusReport(deps: Dependencies, signs: AgentSigns): Promise<StatusReport> {
  const { ledger, address } = deps;
  const { holder, killed } = signs;
  const state = await ledger.state();
  const { lastPass: ended, rolledBack } = state;
  const lastPass = lastPassOf(signs, ended);
  const last = await ledger.pushes.last(address);
  const acknowledged = await ledger.pushes.lastAcknowledged(address);
  const blocked = await standingBlock(deps);
  const repeatMs = await repeatFromMs(deps);
  const { changed } = await loopState(deps);
  return {
    agent:
      holder === undefined ? null : { pid: holder.pid, since: holder.since, configLoadedAt: holder.configLoadedAt },
    ...(killed === undefined ? {} : { killed: showKilled(killed) }),
    ...(signs.stalledSinceMs === undefined ? {} : { stalledSince: iso(signs.stalledSinceMs) }),
    configDiffers: signs.configDiffers,
    ...(signs.otherConfigFile === undefined ? {} : { otherConfigFile: signs.otherConfigFile }),
    ...(lastPass === undefined ? {} : { lastPass }),
    sources: standingSources(deps, state),
    held: (await ledger.holds.held()).map(({ sinceMs, ...held }) => ({ ...held, since: iso(sinceMs) })),
    approvals: await openApprovals(deps),
    ...(last === undefined
      ? {}
      : {
          lastPush: {
            id: last.id,
            at: iso(last.atMs),
            outcome: last.outcome ?? 'unknown',
            digest: last.digest,
            detail: detailOf(last),
            hint: await unsure(deps, last),
            ...(last.endedAtMs === undefined ? {} : { endedAt: iso(last.endedAtMs) }),
          },
        }),
    ...(acknowledged === undefined
      ? {}
      : {
          lastAcknowledged: {
            id: acknowledged.id,
            at: iso(acknowledged.endedAtMs ?? acknowledged.atMs),
            digest: acknowledged.digest,
            drivers: acknowledged.drivers,
            points: acknowledged.points,
          },
        }),
    ...(await nextPushOf(deps, signs)),
    ...(repeatMs === undefined ? {} : { repeatFrom: iso(repeatMs), repeatWhy: await whyRepeated(deps) }),
    ...(changed === undefined ? {} : { unpushedSince: iso(changed.firstMs) }),
    blocked,
    rolledBackTo: rolledBack?.push,
    decisions: await recentDecisions(deps),
    telling: tellingReport(state),
    head: await ledger.head(),
    shared: await sharedReport(deps, { holder, doubt: state.doubt, givenBack: state.givenBack }),
  };
}

async function sharedReport(
  { ledger }: Dependencies,
  { holder, doubt, givenBack }: Pick<LedgerState, 'doubt' | 'givenBack'> & { readonly holder: Holder | undefined },
): Promise<SharedReport | undefined> {
  const view = await ledger.agents?.();
  if (view === undefined) return undefined;
  const self = typeof holder?.agentId === 'string' ? holder.agentId : undefined;
  const { leader } = view;
  return {
    term: view.term,
    leader:
      leader === undefined
        ? null
        : { host: leader.host, pid: leader.pid, since: iso(leader.sinceMs), isThis: leader.id === self },
    leads: leaderWords(view, { self, givenBack }),
    isGivenBack: givenBack !== undefined,
    ...(doubt === undefined ? {} : { doubt: { since: iso(doubt.sinceMs), why: doubt.why } }),
    agents: view.agents.map((agent) => {
      const { host, pid, sinceMs, seenMs, hasLeadersConfig, said } = agent;
      const when = { since: iso(sinceMs), seen: iso(seenMs) };
      const words = { text: agentWords(agent, view), isStrange: isStrange(agent, view) };
      const who = { host, pid, isThis: agent.id === self, leads: agent.id === leader?.id };
      return {
        ...who,
        ...when,
        hasLeadersConfig,
        differsFromLeader: differsFromLeader(agent, view),
        ...said,
        ...words,
      };
    }),
  };
}

/** A rollback that is still asked for is told by itself. */
async function unsure(deps: Dependencies, { rollbackOf, outcome }: PushRecord): Promise<string | undefined> {
  if (rollbackOf === undefined || outcome === undefined || outcome === 'acknowledged') return undefined;
  const isAsked = (await deps.ledger.requests.pending()).some(({ request }) => request.kind === 'rollback');
  return isAsked ? undefined : unsureRollback(deps, { push: rollbackOf, outcome });
}

function showKilled({ pid, since, isLockGone }: NonNullable<AgentSigns['killed']>): StatusReport['killed'] {
  return { pid, since, ...(isLockGone === true && { isLockGone }) };
}

/** A pass that broke stands in the heartbeat alone, since the ledger may be what could not be written, until the next one ends. */
function lastPassOf({ broken }: AgentSigns, ended: PassReport | undefined): LastPass | undefined {
  if (broken !== undefined) return { ...broken, outcome: 'broken' };
  return ended && { at: ended.at, outcome: ended.outcome, exit: ended.exit };
}

/** The newest of a week, and every request that no pass has carried out yet, however old. */
async function recentDecisions({ ledger, clock }: Dependencies): Promise<readonly Decision[]> {
  const since = iso(clock.now().getTime() - weekMs);
  const all = await allDecisions(ledger);
  const recent = new Set(all.filter(({ at }) => at > since).slice(0, decisionsShown));
  return all.filter((one) => recent.has(one) || isWaiting(one));
}

/** The last push did not arrive, or nobody knows, and no later pass has found that the service has everything: what it was for was taken back then. */
export function isPushOpen({ lastPass, lastPush }: Pick<StatusReport, 'lastPass' | 'lastPush'>): boolean {
  if (lastPush === undefined || lastPush.outcome === 'acknowledged') return false;
  const { endedAt } = lastPush;
  return lastPass?.outcome !== 'unchanged' || endedAt === undefined || endedAt > lastPass.at;
}

/** Which pass takes up what is held under a digest; `undefined` where nobody has approved it. */
export function whatTakesUp(
  { approvals, rolledBackTo }: Pick<StatusReport, 'approvals' | 'rolledBackTo'>,
  digest: string | undefined,
): string | undefined {
  if (!approvals.some((one) => one.digest === digest && one.state === 'pending')) return undefined;
  const pass = rolledBackTo === undefined ? 'the next pass' : 'the pass that goes on from the sources';
  return `approved: ${pass} takes it up`;
}

/** The same for one look, without a whole report. */
export async function takesUp(deps: Dependencies, digest: string): Promise<string | undefined> {
  const { rolledBack } = await deps.ledger.state();
  return whatTakesUp({ approvals: await openApprovals(deps), rolledBackTo: rolledBack?.push }, digest);
}

/** A request that no pass has carried out yet. Approvals that wait are listed by themselves. */
export function isWaiting({ kind, state }: Decision): boolean {
  return kind !== 'approval' && state === 'pending';
}

/** The newest approval of each source, while it waits, or was dropped within a week. */
async function openApprovals({ ledger, clock }: Dependencies): Promise<StatusReport['approvals']> {
  const newest = new Map<string, Approval>();
  const held = new Map((await ledger.holds.held()).map(({ source, ...hold }) => [source, hold]));
  // An approval that a pass has taken up and that still waits is in a source that no approval helps.
  const waitsFor = ({ source = '', state }: Approval): string | undefined => {
    const hold = held.get(source);
    return state === 'pending' && hold?.approvable === false ? `it waits: ${hold.reason}` : undefined;
  };
  for (const approval of await ledger.holds.approvals()) {
    const source = approval.source ?? '';
    if (!newest.has(source)) newest.set(source, approval);
  }
  const oldestMs = clock.now().getTime() - weekMs;
  return [...newest]
    .filter(([, { state, atMs }]) => state === 'pending' || (state === 'dropped' && atMs > oldestMs))
    .map(([source, approval]) => {
      const { digest, state, why = waitsFor(approval) } = approval;
      return { source, digest, state, why };
    });
}

/** The agent's next push. A `sync` or a `rollback` is at its push already, and at most waits for an earlier one. */
async function nextPushOf(
  deps: Dependencies,
  { holder, broken }: AgentSigns,
): Promise<Pick<StatusReport, 'nextPush' | 'nextPushWhy'>> {
  if (holder === undefined) return {};
  const nowMs = deps.clock.now().getTime();
  const untilMs = (await waitsUntilMs(deps, { push: 'newest' })) ?? -Infinity;
  const waiting = untilMs > nowMs ? { atMs: untilMs, why: mayStillLand } : undefined;
  const next = holder.command === 'run' ? await nextPush(deps, broken && Date.parse(broken.at)) : waiting;
  return next === undefined ? {} : { nextPush: iso(next.atMs), nextPushWhy: next.why };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
