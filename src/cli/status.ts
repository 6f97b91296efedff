import { type Decision, whatOf } from '../app/ask/decisions.ts';
import {
  type LastPass,
  type StatusReport,
  isPushOpen,
  isWaiting,
  statusReport,
  whatTakesUp,
} from '../app/ask/status-report.ts';
import { agentSigns, openState, runningAgent } from '../compose/state.ts';
import type { SourceReport } from '../core/report.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { AgentError } from '../core/errors.ts';
import { type Now, showNow, showTime } from '../core/time/spoken.ts';
import { parseDuration } from '../core/duration.ts';
import { type Context, answer, commandLog, load, warnOfState } from './context.ts';
import { ConfigError } from './failing.ts';
import { live } from './live.ts';
import { showDecided, showState } from './decided.ts';
import { say, tinted } from './output.ts';
import { count } from '../core/text.ts';
import { showSources, showWhy } from './text.ts';

export interface StatusOptions {
  readonly exitCode?: boolean;
  readonly maxAge?: string;
  readonly live?: boolean;
  /** With `live`: where to look besides. */
  readonly state?: string;
}

/** Whether the agent runs, what the last pass and push came to, and what is held. */
export async function status(context: Context, options: StatusOptions): Promise<number> {
  const maxAgeMs = ageOf(options);
  if (options.live === true) return live(context, options.state);
  const { settings, problems, state: stateDirectory } = load(context, 'optional');
  if (settings === undefined) throw new ConfigError(problems, goingOn(stateDirectory));
  warnOfState(settings);
  await using state = await openState(settings, commandLog(context));
  const report = await statusOf(state.deps);
  const nowMs = state.deps.clock.now().getTime();
  answer(context, report, () => showStatus(report, { nowMs, timezone: settings.timezone }));
  if (options.exitCode !== true) return 0;
  if (report.stalledSince !== undefined) {
    say(`the agent with pid ${report.agent?.pid} has not moved for too long: it was to move by ${report.stalledSince}`);
    return 75;
  }
  return ageExit(report.lastPass, { nowMs, maxMs: maxAgeMs, maxAge: options.maxAge });
}

/** A config that is wrong does not stop a daemon: it goes on with the one that it loaded. */
function goingOn(state: string | undefined): string | undefined {
  const holder = state === undefined ? undefined : runningAgent({ state });
  if (holder?.command !== 'run') return undefined;
  return `the agent with pid ${holder.pid} goes on with the config that it loaded at ${holder.configLoadedAt}`;
}

/** @throws AgentError `usage` before anything is printed */
function ageOf({ maxAge, exitCode = false, live: isAskedToLive = false, state }: StatusOptions): number {
  if (state !== undefined && !isAskedToLive) {
    throw new AgentError('usage', '--state says nothing without --live', {
      hint: 'what status tells is of the state directory that the config names',
    });
  }
  // A monitor that asks so would see 0 for as long as the loop moves, or for ever.
  if (exitCode && isAskedToLive) {
    throw new AgentError('usage', '--live and --exit-code ask for two exit codes', {
      hint: 'ask twice: --live says whether the loop moves, --exit-code what its last pass came to',
    });
  }
  if (maxAge !== undefined && !exitCode) {
    throw new AgentError('usage', '--max-age says nothing without --exit-code', {
      hint: `driver-sync status --exit-code --max-age ${maxAge}`,
    });
  }
  const maxMs = maxAge === undefined ? Infinity : parseDuration(maxAge);
  if (maxMs !== undefined) return maxMs;
  throw new AgentError('usage', `"${maxAge}" is no duration`, { hint: 'write it as 26h or 30m' });
}

/** Clocks of two machines may differ by this much. */
const aheadMaxMs = 60_000;

/** The last pass's code, or 75 where it is older than allowed. */
function ageExit(
  lastPass: StatusReport['lastPass'],
  { nowMs, maxMs, maxAge }: { readonly nowMs: number; readonly maxMs: number; readonly maxAge: string | undefined },
): number {
  if (lastPass === undefined) return 75;
  const ageMs = nowMs - Date.parse(lastPass.at);
  if (maxMs < Infinity && ageMs < -aheadMaxMs) {
    say(`the last pass lies ahead of the clock, at ${lastPass.at}: how old it is nobody knows`);
    return 75;
  }
  if (ageMs <= maxMs) return lastPass.exit;
  say(`the last pass is older than ${maxAge}`);
  return 75;
}

/** What `status --json` prints. */
export function statusOf(deps: Dependencies): Promise<StatusReport> {
  return statusReport(deps, agentSigns(deps.settings));
}

function showStatus(report: StatusReport, now: Now): string[] {
  const { lastPass, lastPush, lastAcknowledged, nextPush: next, nextPushWhy: why, sources } = report;
  const isNever = next === undefined || report.stalledSince !== undefined;
  const rows: (readonly [string, string])[] = [
    ['agent', showAgent(report, now)],
    ...stalledRows(report, now),
    ...sharedRows(report.shared, now),
    ['last pass', lastPass === undefined ? 'none yet' : showPassLine(lastPass, report, now)],
    ['last push', lastPush === undefined ? 'none yet' : showPushLine(lastPush, now)],
    ...unsureRows(report),
    ['acknowledged', lastAcknowledged === undefined ? 'none yet' : showAcknowledged(lastAcknowledged, now)],
    ['next push', isNever ? noNextPush(report) : `${showTime(next, now)}; ${now.timezone}: ${why}`],
    ['times', showNow(now)],
    ...waitingRows(report, now),
    ...tellingRows(report, now),
  ];
  if (report.otherConfigFile !== undefined) {
    rows.push(['config', `the agent runs with another config file: ${report.otherConfigFile}`]);
  } else if (report.configDiffers) {
    rows.push(['config', `the file is not what the agent has loaded: kill -HUP ${report.agent?.pid} loads it`]);
  }
  if (report.blocked !== undefined) rows.push(['blocked', showBlocked(report.blocked, report)]);
  const head = [...rows, ...decisionRows(report, now)].map(([name, text]) => `${name.padEnd(14)}${text}`);
  return sources.length === 0 ? head : [...head, '', ...showSources(withoutApproved(report))];
}

/** What a daemon waits for that does not come back: a share that hangs, a disk, a process that was stopped. */
function stalledRows({ stalledSince, agent }: StatusReport, now: Now): (readonly [string, string])[] {
  if (stalledSince === undefined) return [];
  return [
    ['stalled', `its loop was to move by ${showTime(stalledSince, now)}, and has not: nothing is read or pushed`],
    ['', `end it (kill ${agent?.pid}, and kill -KILL ${agent?.pid} where it stays) and start it anew: nothing is lost`],
  ];
}

/** Who of the agents leads, and what each would push. */
function sharedRows(shared: StatusReport['shared'], now: Now): (readonly [string, string])[] {
  if (shared === undefined) return [];
  const { leader, leads, doubt, agents } = shared;
  const since = leader === null ? '' : `, since ${showTime(leader.since, now)}`;
  return [
    ['leads', `${leads}${since}`],
    ...agents.map(
      ({ host, pid, text }, index) => [index === 0 ? 'agents' : '', `${host}, pid ${pid}: ${text}`] as const,
    ),
    ...(doubt === undefined ? [] : [['doubt', `since ${showTime(doubt.since, now)}: ${doubt.why}`] as const]),
  ];
}

/** What accepted data and earlier pushes wait for. */
function waitingRows(report: StatusReport, now: Now): (readonly [string, string])[] {
  const { unpushedSince, repeatFrom, repeatWhy } = report;
  return [
    ...(unpushedSince === undefined
      ? []
      : [['waiting', `data that was accepted since ${showTime(unpushedSince, now)} is not pushed yet`] as const]),
    ...(repeatFrom === undefined || isRunning(report)
      ? []
      : [
          ['once more', `due from ${showTime(repeatFrom, now)} on, with the same bytes: ${repeatWhy}`] as const,
          ['', `no agent runs: ${whatRepeats(report)}`] as const,
        ]),
  ];
}

/** A sync would end the rollback, and push the newest snapshot instead. */
function whatRepeats({ rolledBackTo }: StatusReport): string {
  return rolledBackTo === undefined
    ? 'a "driver-sync sync" after that time does it'
    : `"driver-sync run" does it, or "driver-sync rollback ${rolledBackTo}" again; "driver-sync sync" ends the rollback`;
}

/** What could not be told. */
function tellingRows({ telling }: StatusReport, now: Now): (readonly [string, string])[] {
  if (telling === undefined) return [];
  const { waiting, dropped, failing = [], heartbeat } = telling;
  const rows: (readonly [string, string])[] = [];
  let moving = waiting;
  for (const one of failing) {
    moving -= one.waiting;
    rows.push(['telling', `${count(one.waiting, 'notice')} cannot be delivered: ${one.error}`]);
    rows.push(['', `${one.channel}, since ${showTime(one.since, now)}; it is tried again by itself`]);
  }
  if (moving > 0) rows.push(['telling', `${count(moving, 'notice')} on the way`]);
  if (dropped > 0) rows.push(['not told', `${count(dropped, 'notice')} could not be delivered and were given up`]);
  if (heartbeat !== undefined) {
    rows.push(['heartbeat', `not sent since ${showTime(heartbeat.since, now)}: ${heartbeat.error}`]);
  }
  return rows;
}

/** A first push that waits is one of what is held, and may be approved already. */
function showBlocked({ reason, hint }: NonNullable<StatusReport['blocked']>, report: StatusReport): string {
  const waits = report.held.find((one) => one.reason === reason);
  const said = whatTakesUp(report, waits?.digest) ?? hint;
  return said === undefined ? reason : `${reason} (${said})`;
}

/** What waits for a person, and what people decided. */
function decisionRows(report: StatusReport, now: Now): (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [];
  for (const { source, digest, reason, hint, since, approvable } of report.held) {
    rows.push(['held', `${source} since ${showTime(since, now)}: ${reason}`]);
    if (hint !== undefined) rows.push(['', hint]);
    const approved = whatTakesUp(report, digest);
    if (approved !== undefined) rows.push(['', approved]);
    else if (approvable) rows.push(['', `driver-sync approve ${digest.slice(0, 12)}`]);
  }
  for (const { source, digest, state, why } of report.approvals) {
    rows.push(['approval', `${digest.slice(0, 12)} of ${source} ${state}${why === undefined ? '' : `: ${why}`}`]);
  }
  for (const one of report.decisions) {
    const isNeedless = one.kind === 'forget' && one.why !== undefined;
    const cameTo = isNeedless ? showState(one) : one.state;
    const state = isWaiting(one) ? whatCarriesOut(one, report) : cameTo;
    rows.push(['decided', `${showTime(one.at, now)}: ${whatOf(one)}, ${state}`]);
    const said = showDecided(one);
    if (said !== '') rows.push(['', said]);
  }
  return rows;
}

/** Nobody is asked twice for what is approved already. */
function withoutApproved(report: StatusReport): readonly SourceReport[] {
  return report.sources.map((source) =>
    whatTakesUp(report, source.digest) === undefined ? source : { ...source, approvable: false },
  );
}

function whatCarriesOut({ kind }: Decision, report: StatusReport): string {
  if (isRunning(report)) return 'waits for the next pass of the agent';
  if (kind === 'forget') return 'waits for the next pass';
  return 'waits: "driver-sync run" carries it out, "driver-sync sync" drops it';
}

function showAgent({ agent, killed }: StatusReport, now: Now): string {
  const since = (at: string | undefined): string => (at === undefined ? '' : `, since ${showTime(at, now)}`);
  if (agent !== null) return `running, pid ${agent.pid}${since(agent.since)}`;
  if (killed === undefined) return 'not running';
  const last = `pid ${killed.pid}${since(killed.since)}`;
  if (killed.isLockGone === true)
    return `the lock of the last one, ${last}, was removed: if it still runs, its passes break and it pushes nothing; end it and start it anew`;
  return `not running: the last one, ${last}, was killed or crashed`;
}

function showPassLine({ at, outcome, exit, reason, hint }: LastPass, report: StatusReport, now: Now): string {
  const why = reason === undefined ? wordsFor(exit, report) : `: ${reason}`;
  return `${showTime(at, now)}: ${tinted(outcome)}${why}${hint === undefined ? '' : ` (${hint})`}`;
}

/** What its exit code says beside its outcome. */
function wordsFor(exit: number, report: StatusReport): string {
  if (exit === 0) return isWell(report) ? ', all is well' : '';
  const why = showWhy(exit, report.sources);
  return why === '' && exit === 4 ? ', and nothing may be pushed yet' : why;
}

/** Something may have happened since a pass that went well, and what is carried is said by one exit code alone. */
function isWell(report: StatusReport): boolean {
  const { held, blocked, unpushedSince, sources, killed, stalledSince } = report;
  if (killed?.isLockGone === true || stalledSince !== undefined || isPushOpen(report)) return false;
  const isDone = held.length === 0 && blocked === undefined && unpushedSince === undefined;
  return isDone && sources.every(({ carried }) => carried.length === 0);
}

function showPushLine({ id, at, outcome, detail }: NonNullable<StatusReport['lastPush']>, now: Now): string {
  const why = outcome === 'acknowledged' || detail === undefined ? '' : `: ${detail}`;
  return `push ${id}, ${showTime(at, now)}: ${tinted(outcome)}${why}`;
}

/** An agent that runs goes on by itself: the next push says how. */
function unsureRows(report: StatusReport): (readonly [string, string])[] {
  const hint = isPushOpen(report) && !isRunning(report) ? report.lastPush?.hint : undefined;
  return hint === undefined ? [] : [['', hint]];
}

function showAcknowledged(
  { id, at, drivers, points }: NonNullable<StatusReport['lastAcknowledged']>,
  now: Now,
): string {
  return `push ${id}, ${showTime(at, now)}: ${count(drivers, 'driver')}, ${count(points, 'point')}`;
}

function noNextPush(report: StatusReport): string {
  if (report.stalledSince !== undefined) return 'none while the loop stands still';
  if (report.shared?.isGivenBack === true) return 'none of this ledger: it was given back';
  if (report.agent !== null) return 'none now';
  return isRunning(report)
    ? 'when the agent that leads decides: "driver-sync status" on its machine says when'
    : 'none: no agent runs ("driver-sync run" starts one)';
}

/** Some agent pushes: that of this state directory, or one that leads elsewhere. */
function isRunning({ agent, shared }: StatusReport): boolean {
  return agent !== null || (shared !== undefined && shared.leader !== null);
}
