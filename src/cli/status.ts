import { type Decision, allDecisions } from '../app/ask/decisions.ts';
import { mayStillLand } from '../app/push/send.ts';
import { standingBlock } from '../app/push/blocked.ts';
import { standingSources } from '../app/ask/standing-sources.ts';
import { loopState } from '../app/loop-record.ts';
import { heartbeatOf, killedAgent, openState, runningAgent } from '../compose/state.ts';
import { mayHaveLanded } from '../app/push/repeat.ts';
import { nextPushOf as nextPush, repeatFromMs, waitsUntilMs } from '../app/loop/next-push.ts';
import { type TellingReport, tellingReport } from '../app/telling/telling-report.ts';
import type { PassReport, SourceReport } from '../core/report.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { AgentError } from '../core/errors.ts';
import { parseDuration } from '../core/duration.ts';
import type { Settings } from '../core/settings.ts';
import type { Approval } from '../core/ledger.ts';
import { ConfigError, type Context, answer, commandLog, load, warnOfState } from './context.ts';
import { showDecided, showDecision } from './decided.ts';
import { say, tinted } from './output.ts';
import { count, showSources, showWhy } from './text.ts';
import { type Now, showNow, showTime } from './times.ts';

export interface StatusOptions {
  readonly exitCode?: boolean;
  readonly maxAge?: string;
  readonly live?: boolean;
}

/** Whether the agent runs, what the last pass and push came to, and what is held. */
export async function status(context: Context, options: StatusOptions): Promise<number> {
  const maxAgeMs = ageOf(options.maxAge);
  const { settings, unset, problems, state: stateDirectory } = load(context, 'optional');
  // A daemon lives on with the config that it has: a mistake in the file must not have it restarted.
  if (options.live === true && stateDirectory !== undefined) return live(context, stateDirectory);
  if (settings === undefined) throw new ConfigError(problems, goingOn(stateDirectory));
  warnOfState(settings);
  await using state = await openState(settings, commandLog(context));
  const report = await statusOf(state.deps, unset);
  answer(context, report, () =>
    showStatus(report, { nowMs: state.deps.clock.now().getTime(), timezone: settings.timezone }),
  );
  return options.exitCode === true ? ageExit(report.lastPass, maxAgeMs, options.maxAge) : 0;
}

/** A config that is wrong does not stop a daemon: it goes on with the one that it loaded. */
function goingOn(state: string | undefined): string | undefined {
  const holder = state === undefined ? undefined : runningAgent({ state });
  if (holder?.command !== 'run') return undefined;
  return `the agent with pid ${holder.pid} goes on with the config that it loaded at ${holder.configLoadedAt}`;
}

function live(context: Context, state: string): number {
  const holder = runningAgent({ state });
  const untilMs = heartbeatOf({ state })?.untilMs;
  const isLive = holder?.command === 'run' && untilMs !== undefined && Date.now() <= untilMs;
  const text = isLive
    ? `the agent is alive, pid ${holder.pid}`
    : holder === undefined
      ? 'no agent runs on this state directory'
      : `the agent with pid ${holder.pid} has not moved for too long`;
  answer(context, { live: isLive }, () => [text]);
  return isLive ? 0 : 75;
}

/** @throws AgentError `usage` before anything is printed */
function ageOf(maxAge: string | undefined): number {
  const maxMs = maxAge === undefined ? Infinity : parseDuration(maxAge);
  if (maxMs !== undefined) return maxMs;
  throw new AgentError('usage', `"${maxAge}" is no duration`, { hint: 'write it as 26h or 30m' });
}

/** The last pass's code, or 75 where it is older than allowed. */
function ageExit(lastPass: StatusReport['lastPass'], maxMs: number, maxAge: string | undefined): number {
  if (lastPass === undefined) return 75;
  const ageMs = Date.now() - Date.parse(lastPass.at);
  if (ageMs <= maxMs) return lastPass.exit;
  say(`the last pass is older than ${maxAge}`);
  return 75;
}

const weekMs = 7 * 86_400_000;
const decisionsShown = 5;

interface HeldReport {
  readonly source: string;
  readonly digest: string;
  readonly reason: string;
  readonly since: string;
  readonly hint?: string | undefined;
  readonly approvable: boolean;
}

interface LastPass {
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
  readonly killed?: { readonly pid: number | undefined; readonly since: string | undefined } | undefined;
  /** The file is not what the running agent has loaded. */
  readonly configDiffers: boolean;
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
  };
  readonly lastAcknowledged?: { id: number; at: string; digest: string; drivers: number; points: number };
  readonly nextPush?: string | undefined;
  readonly nextPushWhy?: string | undefined;
  /** Since when accepted data waits for the next push. */
  readonly unpushedSince?: string | undefined;
  /** From when on the acknowledged snapshot is to be pushed once more, by a daemon or the next sync. */
  readonly repeatFrom?: string | undefined;
  /** Why nothing is pushed now. */
  readonly blocked?: { readonly reason: string; readonly hint?: string | undefined } | undefined;
  readonly rolledBackTo?: number | undefined;
  /** Those of the last week and those that wait, newest first: who, and why. */
  readonly decisions: readonly Decision[];
  /** What could not be told yet; absent where nobody is to be told. */
  readonly telling?: TellingReport | undefined;
  /** The newest record of the chain, as `N:SHA256`. */
  readonly head: string;
}

/** What `status --json` prints. @param unset variables of the config that are not set here */
export async function statusOf(deps: Dependencies, unset: readonly string[]): Promise<StatusReport> {
  const { settings, ledger, address } = deps;
  const holder = runningAgent(settings);
  const state = await ledger.state();
  const { lastPass: ended, rolledBack } = state;
  const lastPass = lastPassOf(settings, ended);
  const last = await ledger.pushes.last(address);
  const acknowledged = await ledger.pushes.lastAcknowledged(address);
  const blocked = await standingBlock(deps);
  const repeatMs = await repeatFromMs(deps);
  const killed = holder === undefined ? killedAgent(settings) : undefined;
  const { changed } = await loopState(deps);
  return {
    agent:
      holder === undefined ? null : { pid: holder.pid, since: holder.since, configLoadedAt: holder.configLoadedAt },
    ...(killed === undefined ? {} : { killed: { pid: killed.pid, since: killed.since } }),
    configDiffers: configDiffers(settings, unset),
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
            detail: last.detail,
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
    ...(holder === undefined ? {} : await nextPushOf(deps, holder.command)),
    ...(repeatMs === undefined ? {} : { repeatFrom: iso(repeatMs) }),
    ...(changed === undefined ? {} : { unpushedSince: iso(changed.firstMs) }),
    blocked,
    rolledBackTo: rolledBack?.push,
    decisions: await recentDecisions(deps),
    telling: tellingReport(state),
    head: await ledger.head(),
  };
}

/** A pass that broke stands in the heartbeat alone, since the ledger may be what could not be written. */
function lastPassOf(settings: Settings, ended: PassReport | undefined): LastPass | undefined {
  const broken = heartbeatOf(settings)?.broken;
  if (broken !== undefined && (ended === undefined || broken.at > ended.at)) return { ...broken, outcome: 'broken' };
  return ended && { at: ended.at, outcome: ended.outcome, exit: ended.exit };
}

/** The newest of a week, and every request that no pass has carried out yet, however old. */
async function recentDecisions({ ledger, clock }: Dependencies): Promise<readonly Decision[]> {
  const since = iso(clock.now().getTime() - weekMs);
  const all = await allDecisions(ledger);
  const recent = new Set(all.filter(({ at }) => at > since).slice(0, decisionsShown));
  return all.filter((one) => recent.has(one) || isWaiting(one));
}

/** Approvals that wait have lines of their own. */
function isWaiting({ kind, state }: Decision): boolean {
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
  command: string | undefined,
): Promise<Pick<StatusReport, 'nextPush' | 'nextPushWhy'>> {
  const nowMs = deps.clock.now().getTime();
  const broken = heartbeatOf(deps.settings)?.broken;
  const untilMs = (await waitsUntilMs(deps, { push: 'newest' })) ?? -Infinity;
  const waiting = untilMs > nowMs ? { atMs: untilMs, why: mayStillLand } : undefined;
  const next = command === 'run' ? await nextPush(deps, broken && Date.parse(broken.at)) : waiting;
  return next === undefined ? {} : { nextPush: iso(next.atMs), nextPushWhy: next.why };
}

/** Whether the config file is not what the running agent has loaded. Where variables are not set here, nobody can tell. */
export function configDiffers(settings: Settings, unset: readonly string[]): boolean {
  if (unset.length > 0) return false;
  const holder = runningAgent(settings);
  return holder?.command === 'run' && holder.configDigest !== undefined && holder.configDigest !== settings.digest;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function showStatus(report: StatusReport, now: Now): string[] {
  const { lastPass, lastPush, lastAcknowledged, nextPush: next, nextPushWhy: why, sources } = report;
  const rows: (readonly [string, string])[] = [
    ['agent', showAgent(report, now)],
    ['last pass', lastPass === undefined ? 'none yet' : showPassLine(lastPass, sources, now)],
    ['last push', lastPush === undefined ? 'none yet' : showPushLine(lastPush, now)],
    ['acknowledged', lastAcknowledged === undefined ? 'none yet' : showAcknowledged(lastAcknowledged, now)],
    ['next push', next === undefined ? noNextPush(report) : `${showTime(next, now)}; ${now.timezone}: ${why}`],
    ['times', showNow(now)],
    ...waitingRows(report, now),
    ...tellingRows(report, now),
  ];
  if (report.configDiffers) {
    rows.push(['config', `the file is not what the agent has loaded: kill -HUP ${report.agent?.pid} loads it`]);
  }
  if (report.blocked !== undefined) {
    const { reason, hint } = report.blocked;
    rows.push(['blocked', hint === undefined ? reason : `${reason} (${hint})`]);
  }
  const head = [...rows, ...decisionRows(report, now)].map(([name, text]) => `${name.padEnd(14)}${text}`);
  return sources.length === 0 ? head : [...head, '', ...showSources(sources)];
}

/** What accepted data and earlier pushes wait for. */
function waitingRows({ unpushedSince, repeatFrom, agent }: StatusReport, now: Now): (readonly [string, string])[] {
  return [
    ...(unpushedSince === undefined
      ? []
      : [['waiting', `data that was accepted since ${showTime(unpushedSince, now)} is not pushed yet`] as const]),
    ...(repeatFrom === undefined || agent !== null
      ? []
      : [
          ['once more', `due from ${showTime(repeatFrom, now)} on, with the same bytes: ${mayHaveLanded}`] as const,
          ['', 'no agent runs: a "driver-sync sync" after that time does it'] as const,
        ]),
  ];
}

/** What could not be told. */
function tellingRows({ telling }: StatusReport, now: Now): (readonly [string, string])[] {
  if (telling === undefined) return [];
  const { waiting, dropped, lastError, heartbeat } = telling;
  const rows: (readonly [string, string])[] = [];
  if (lastError !== undefined) {
    const { channel, since, error } = lastError;
    rows.push(['telling', `${count(waiting, 'notice')} cannot be delivered: ${error}`]);
    rows.push(['', `${channel}, since ${showTime(since, now)}; it is tried again by itself`]);
  } else if (waiting > 0) rows.push(['telling', `${count(waiting, 'notice')} on the way`]);
  if (dropped > 0) rows.push(['not told', `${count(dropped, 'notice')} could not be delivered and were given up`]);
  if (heartbeat !== undefined) {
    rows.push(['heartbeat', `not sent since ${showTime(heartbeat.since, now)}: ${heartbeat.error}`]);
  }
  return rows;
}

/** What waits for a person, and what people decided. */
function decisionRows(report: StatusReport, now: Now): (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [];
  for (const { source, digest, reason, hint, since, approvable } of report.held) {
    rows.push(['held', `${source} since ${showTime(since, now)}: ${reason}`]);
    if (hint !== undefined) rows.push(['', hint]);
    if (approvable) rows.push(['', `driver-sync approve ${digest.slice(0, 12)}`]);
  }
  for (const { source, digest, state, why } of report.approvals) {
    rows.push(['approval', `${digest.slice(0, 12)} of ${source} ${state}${why === undefined ? '' : `: ${why}`}`]);
  }
  for (const one of report.decisions) {
    const state = isWaiting(one) ? whatCarriesOut(one, report) : one.state;
    rows.push(['decided', `${showTime(one.at, now)}: ${showDecision(one)}, ${state}`]);
    const said = showDecided(one);
    if (said !== '') rows.push(['', said]);
  }
  return rows;
}

function whatCarriesOut({ kind }: Decision, { agent }: StatusReport): string {
  if (agent !== null) return 'waits for the next pass of the agent';
  if (kind === 'forget') return 'waits for the next pass';
  return 'waits: "driver-sync run" carries it out, "driver-sync sync" drops it';
}

function showAgent({ agent, killed }: StatusReport, now: Now): string {
  const since = (at: string | undefined): string => (at === undefined ? '' : `, since ${showTime(at, now)}`);
  if (agent !== null) return `running, pid ${agent.pid}${since(agent.since)}`;
  if (killed === undefined) return 'not running';
  return `not running: the last one, pid ${killed.pid}${since(killed.since)}, was killed or crashed`;
}

function showPassLine(
  { at, outcome, exit, reason, hint }: LastPass,
  sources: readonly SourceReport[],
  now: Now,
): string {
  const why = reason === undefined ? wordsFor(exit, sources) : `: ${reason}`;
  return `${showTime(at, now)}: ${tinted(outcome)}${why}${hint === undefined ? '' : ` (${hint})`}`;
}

/** What its exit code says beside its outcome. */
function wordsFor(exit: number, sources: readonly SourceReport[]): string {
  if (exit === 0) return ', all is well';
  const why = showWhy(exit, sources);
  return why === '' && exit === 4 ? ', and nothing may be pushed yet' : why;
}

function showPushLine({ id, at, outcome, detail }: NonNullable<StatusReport['lastPush']>, now: Now): string {
  const why = outcome === 'acknowledged' || detail === undefined ? '' : `: ${detail}`;
  return `push ${id}, ${showTime(at, now)}: ${tinted(outcome)}${why}`;
}

function showAcknowledged(
  { id, at, drivers, points }: NonNullable<StatusReport['lastAcknowledged']>,
  now: Now,
): string {
  return `push ${id}, ${showTime(at, now)}: ${count(drivers, 'driver')}, ${count(points, 'point')}`;
}

function noNextPush({ agent }: StatusReport): string {
  return agent === null ? 'none: no agent runs ("driver-sync run" starts one)' : 'none now';
}
