import { configDiffers, otherConfigFile } from '../compose/agent-config.ts';
import { openScratch } from '../compose/scratch.ts';
import { runningAgent } from '../compose/state.ts';
import { type PlanReport, type PlannedSource, blockOfPass, plan as planPass } from '../app/ask/plan.ts';
import { mayHaveLanded } from '../app/push/repeat.ts';
import { isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { hasChanges } from '../core/series/diff.ts';
import { showBytes } from '../core/size.ts';
import { openStop } from './ending.ts';
import { type Context, answer, commandLog, loadUnsentSettings, refuseJson } from './context.ts';
import { print, say } from './output.ts';
import { openProgress } from './progress.ts';
import { changesShown, showMoved, showPoints, showTotals } from './changes.ts';
import { failedMarkdown, planMarkdown } from './markdown.ts';
import { count } from '../core/text.ts';
import { type Now, showTime } from '../core/time/spoken.ts';
import { showChanges, showSources, whatIsUnreadable } from './text.ts';

const renamesShown = 10;

export interface PlanOptions {
  readonly all?: boolean;
  readonly format?: 'text' | 'markdown';
}

/** What `sync` would do now. */
export async function plan(context: Context, options: PlanOptions): Promise<number> {
  if (options.format !== 'markdown') return planAs(context, options);
  refuseJson(context);
  try {
    return await planAs(context, options);
  } catch (error) {
    print(failedMarkdown(error));
    throw error;
  }
}

async function planAs(context: Context, { all = false, format }: PlanOptions): Promise<number> {
  const settings = loadUnsentSettings(context);
  const progress = openProgress(process.stderr);
  using stop = openStop();
  let report: PlanReport;
  let nowMs: number;
  {
    await using scratch = await openScratch(settings, commandLog(context), progress.observe);
    try {
      report = await planPass(scratch.deps, { shownMax: all ? Infinity : changesShown }, stop.signal);
      nowMs = scratch.deps.clock.now().getTime();
    } finally {
      progress.end();
    }
  }
  sayOtherConfig(settings);
  const now = { nowMs, timezone: settings.timezone };
  answer(context, report, () => (format === 'markdown' ? planMarkdown(report) : showPlan(report, now)));
  return report.exit;
}

/** A plan is of the file, and not of what the running agent would do by the config that it has. */
function sayOtherConfig(settings: Settings): void {
  const holder = runningAgent(settings);
  const other = otherConfigFile(settings, holder);
  if (other !== undefined) {
    say(`note: the agent runs with another config file: ${other}; this plan is of ${settings.file}`);
  } else if (configDiffers(settings, holder)) {
    say('note: the running agent has another config loaded; this plan is of the file');
  }
}

function showPlan(report: PlanReport, now: Now): string[] {
  const { drivers, points, bytes, digest } = report;
  const blocked = blockOfPass(report);
  const lines = [...showSources(report.sources), ...report.sources.flatMap(showLargest), ''];
  lines.push(
    `snapshot ${digest.slice(0, 12)}: ${count(drivers, 'driver')}, ${count(points, 'point')}, ${showBytes(bytes)}`,
  );
  lines.push(`would change: ${showChanges(report.changes)}`);
  if (report.unreadablePush !== undefined) lines.push(`  ${whatIsUnreadable(report.unreadablePush)}`);
  if (report.keptPoints > 0) {
    const kept = count(report.keptPoints, 'point');
    lines.push(`no longer in the snapshot: ${kept}, which the service keeps (shouldDeleteMissing: false)`);
  } else if (report.isSameData) lines.push('the same data, sent with another stamp or shouldDeleteMissing');
  for (const { from, to } of report.renamed.slice(0, renamesShown)) {
    lines.push(`renamed id: "${from}" becomes "${to}" (a delete and a create at the service)`);
  }
  const more = report.renamed.length - renamesShown;
  if (more > 0) lines.push(`and ${more} more renamed ids`);
  if (report.isRepeatDue && blocked !== undefined) {
    lines.push(`the push is due once more, with the same bytes: ${mayHaveLanded}`);
  }
  lines.push(...showNextPush(report, now));
  if (report.rolledBackTo !== undefined) {
    lines.push(
      `rolled back to push ${report.rolledBackTo}: nothing of this is pushed until "driver-sync sync" or SIGUSR2 goes on from the sources`,
    );
  }
  // What blocks a first push says itself what that push deletes.
  if (report.isFirstPush && blocked === undefined) {
    lines.push(
      `this is the first push to this address: it deletes every driver there that is not among these ${drivers}`,
    );
  }
  if (blocked !== undefined) {
    lines.push(`blocked: ${blocked.reason}`);
    if (blocked.hint !== undefined) lines.push(`  ${blocked.hint}`);
  }
  return lines;
}

/** What a pass does where nothing changes, and what it would wait for. */
function showNextPush({ nextPush, nextPushWhy: why, changes, isSameData, isPushDue }: PlanReport, now: Now): string[] {
  if (nextPush === undefined) return [];
  const isNew = hasChanges(changes) || isSameData;
  if (Date.parse(nextPush) <= now.nowMs) return isNew ? [] : [`it is pushed all the same: ${why}`];
  const when = `${showTime(nextPush, now)} (${now.timezone})`;
  if (isNew || isPushDue === true) return [`it is not pushed before ${when}: ${why}`];
  return [`nothing is pushed now: the service has this snapshot. It is due again at ${when}: ${why}`];
}

/** The changes of a source, the largest first: what a person has to see before they approve. */
function showLargest({ name, state, largest, changedPoints, totals, moved, movedDrivers }: PlannedSource): string[] {
  if (changedPoints + movedDrivers === 0) return showTotals(totals);
  const would = state === 'held' ? `${name} is held; approving it` : `${name}: the next push`;
  const what = [
    ...(changedPoints === 0 ? [] : [count(changedPoints, 'point')]),
    ...(movedDrivers === 0 ? [] : [count(movedDrivers, 'path')]),
  ].join(' and ');
  const some = largest.length < changedPoints ? `; the ${largest.length} largest (--all shows all)` : '';
  return [
    '',
    `${would} changes ${what}${some}`,
    ...(largest.length === 0 ? [] : showPoints(largest)),
    ...showTotals(totals),
    ...showMoved(moved, movedDrivers),
  ];
}

/** What another config would change and delete, for the log of a reload. Rejects once the signal aborts. */
export async function previewReload(settings: Settings, log: Log, signal: AbortSignal): Promise<unknown> {
  try {
    await using scratch = await openScratch(settings, log);
    const report = await planPass(scratch.deps, { shownMax: 0 }, signal);
    const { changes, sources, isFirstPush, drivers } = report;
    // A changed config ends a rollback.
    const blocked = blockOfPass(report);
    const held = sources.filter(({ state }) => state === 'held').map(({ name, reason }) => ({ source: name, reason }));
    const firstPush = `the first push to ${scratch.deps.address}: it deletes every driver there that is not among these ${drivers}`;
    return {
      changes: showChanges(changes),
      ...(isFirstPush ? { firstPush } : {}),
      ...(blocked === undefined ? {} : { blocked: blocked.reason }),
      held,
    };
  } catch (error) {
    // A disk without room for a copy must not keep a new config out.
    if (signal.aborted || !isAgentError(error)) throw error;
    return `unknown: ${error.message}`;
  }
}
