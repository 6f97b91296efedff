/** `forget`: takes effect in the agent's next pass, which it wakes. */
import type { Dependencies } from '../app/dependencies.ts';
import { checkForget, forget as forgetNow, reportedParts } from '../app/prepare/forget.ts';
import { acceptedDrivers } from '../app/push/newest-snapshot.ts';
import { silent } from '../compose/look.ts';
import { openScratch } from '../compose/scratch.ts';
import { openAsked, openState, wakeAgent } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import type { Snapshot } from '../core/ledger.ts';
import { ChangeCounts, type Changes, diffDrivers, effectAt } from '../core/series/diff.ts';
import { LargestChanges, type PointChange } from '../core/series/largest.ts';
import { count } from '../core/text.ts';
import { isYes } from './asking.ts';
import { type Context, answer, commandLog, loadSettings, nextStep } from './context.ts';
import { decidedBy } from './decided.ts';
import { say } from './output.ts';
import { changesShown, showPoints } from './changes.ts';
import { showChanges } from './text.ts';

/** Drops what is carried for a part or a source that will not come back. */
export async function forget(
  context: Context,
  target: { source: string; part?: string | undefined },
  { yes, reason }: { readonly yes: boolean; readonly reason?: string },
): Promise<number> {
  const said = decidedBy(context, reason);
  const settings = loadSettings(context, 'optional');
  let forgotten: Forgotten;
  {
    await using state = await openState(settings, commandLog(context));
    // The agent that leads carries it out: what counts is what that one carries.
    const reported = settings.ledger === undefined ? [] : await reportedParts(state.deps, target.source);
    forgotten = await whatChanges(state.deps, target, reported);
  }
  const { changes, changedPoints, largest, isHeld } = forgotten;
  const what = describe(forgotten, settings.shouldDeleteMissing);
  if (!yes && !(await isConfirmed(what, showLargest(forgotten)))) {
    throw new AgentError('usage', `${what}; nothing was forgotten`, { hint: 'say --yes to do it without being asked' });
  }
  const ledger = await openAsked(settings);
  try {
    await ledger.requests.add({ kind: 'forget', source: target.source, part: target.part }, Date.now(), said);
  } finally {
    await ledger.close();
  }
  wakeAgent(settings);
  answer(context, { forgotten: target, ...said, changes, changedPoints, largest }, () => [
    `${what}; ${nextStep(settings)}`,
    ...(isHeld ? [`${target.source} is held: its newest read is judged anew without what is forgotten`] : []),
    showChanges(changes),
    ...showLargest(forgotten),
  ]);
  return 0;
}

interface Forgotten {
  readonly changes: Changes;
  readonly changedPoints: number;
  /** The largest of the points that change, of all drivers. */
  readonly largest: readonly PointChange[];
  /** Its newest read waits, and may be accepted without what is forgotten. */
  readonly isHeld: boolean;
  /** Another file takes the place of what is forgotten, and nobody knows yet what it holds. */
  readonly isReplaced: boolean;
}

/** @throws AgentError `usage` for what cannot be forgotten */
async function whatChanges(
  { settings, ledger }: Dependencies,
  target: { source: string; part?: string | undefined },
  reported: readonly string[],
): Promise<Forgotten> {
  await using scratch = await openScratch(settings, silent);
  checkForget(scratch.deps, target, reported);
  const before = await acceptedNow(scratch.deps);
  await forgetNow(scratch.deps, target, reported);
  const found = new LargestChanges(changesShown);
  const counts = new ChangeCounts();
  const effect = effectAt(settings);
  for (const change of diffDrivers(before.readPoints(), acceptedDrivers(scratch.deps))) {
    const seen = effect(change);
    if (seen === undefined) continue;
    counts.add(seen);
    found.add(seen);
  }
  const source = settings.sources.find(({ name }) => name === target.source);
  return {
    changes: counts.sum(),
    changedPoints: found.count,
    largest: found.shown(),
    isHeld: source !== undefined && (await ledger.holds.held()).some((held) => held.source === target.source),
    isReplaced: source !== undefined && scratch.deps.openSource(source).newestOnly === true,
  };
}

/** Outside of the buffer, which is changed next. */
function acceptedNow(deps: Dependencies): Promise<Snapshot> {
  const { shouldDeleteMissing, stamp } = deps.settings;
  return deps.archive.write(acceptedDrivers(deps), { shouldDeleteMissing, stamp }, deps.buffer.reads.origins());
}

function describe({ changes: { drivers, points }, isReplaced }: Forgotten, deletes: boolean): string {
  const changed = points.update + points.create;
  const parts = [
    ...(drivers.delete + points.delete > 0
      ? [`deletes ${count(drivers.delete, 'driver')} and ${count(points.delete, 'point')}`]
      : []),
    ...(changed > 0 ? [`changes ${count(changed, 'value')}`] : []),
  ];
  const but = isReplaced ? ', but for what the newest of the other files has' : '';
  if (parts.length > 0) return `forgetting this ${parts.join(' and ')} at the next push${but}`;
  const why = deletes ? '' : ' (with shouldDeleteMissing: false the service deletes nothing)';
  return `forgetting this changes nothing at the service${why}`;
}

/** The points that change, with old and new value: what a person has to see first. */
function showLargest({ largest, changedPoints }: Forgotten): string[] {
  const some = largest.length < changedPoints ? [`the ${largest.length} largest of ${changedPoints} changes:`] : [];
  return largest.length === 0 ? [] : [...some, ...showPoints(largest)];
}

async function isConfirmed(question: string, changes: readonly string[]): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  say(...changes);
  return isYes(question, { input: process.stdin, output: process.stderr });
}
