/** `forget`: takes effect in the agent's next pass, which it wakes. */
import type { Dependencies } from '../app/dependencies.ts';
import { forget as forgetNow, reportedParts, requestToForget, waitsForRead } from '../app/prepare/forget.ts';
import { acceptedDrivers } from '../app/push/newest-snapshot.ts';
import { closedChanges } from '../app/review/values.ts';
import { refuseOtherConfig } from '../compose/agent-config.ts';
import { silent } from '../compose/look.ts';
import { openScratch } from '../compose/scratch.ts';
import { openAsked, openState, runningAgent, wakeAgent } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import type { Forgetting, Snapshot } from '../core/ledger.ts';
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
  { yes, closed = false, reason }: { readonly yes: boolean; readonly closed?: boolean; readonly reason?: string },
): Promise<number> {
  const said = decidedBy(context, reason);
  const settings = loadSettings(context, 'optional');
  // What it deletes is told by this config, and done by that of the agent.
  if (settings.ledger === undefined) refuseOtherConfig(settings, runningAgent(settings));
  let forgotten: Forgotten;
  {
    await using state = await openState(settings, commandLog(context));
    // The agent that leads carries it out: what counts is what that one carries.
    const reported = settings.ledger === undefined ? [] : await reportedParts(state.deps, target.source);
    forgotten = await whatChanges(state.deps, target, reported);
  }
  const { changes, changedPoints, largest, isHeld, elsewhere } = forgotten;
  const { findings } = forgotten.closed;
  const what = describe(forgotten, settings.shouldDeleteMissing);
  const isMeant = yes
    ? closed || findings.length === 0
    : await isConfirmed(what, [...showElsewhere(forgotten), ...showLargest(forgotten)]);
  if (!isMeant) {
    const hint = yes ? 'say --closed too to open these months' : 'say --yes to do it without being asked';
    throw new AgentError('usage', `${what}; nothing was forgotten`, { hint });
  }
  const { ledger, clock } = await openAsked(settings);
  try {
    await ledger.requests.add(forgotten.request, clock.now().getTime(), said);
  } finally {
    await ledger.close();
  }
  wakeAgent(settings);
  const opened = findings.length === 0 ? {} : { findings };
  answer(context, { forgotten: target, ...said, changes, changedPoints, largest, elsewhere, ...opened }, () => [
    `${what}; ${nextStep(settings)}`,
    ...showElsewhere(forgotten),
    ...(isHeld
      ? [`${target.source} is held: its newest read is judged anew without what is forgotten, which stays until then`]
      : []),
    showChanges(changes),
    ...showLargest(forgotten),
  ]);
  return 0;
}

interface Forgotten {
  readonly request: Forgetting;
  readonly changes: Changes;
  readonly changedPoints: number;
  /** The largest of the points that change, of all drivers. */
  readonly largest: readonly PointChange[];
  readonly closed: ReturnType<typeof closedChanges>;
  /** Its newest read waits, and may be accepted without what is forgotten. */
  readonly isHeld: boolean;
  /** It was not read, and only a read of it tells what takes the place of what is forgotten. */
  readonly isUnread: boolean;
  /** What is deleted and other sources have in a read that is not accepted. */
  readonly elsewhere: readonly { readonly source: string; readonly drivers: readonly string[] }[];
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
  const request = requestToForget(scratch.deps, target, reported);
  const before = await acceptedNow(scratch.deps);
  const others = driversElsewhere(scratch.deps, target.source);
  const isUnread = waitsForRead(scratch.deps, request);
  await forgetNow(scratch.deps, request, { reported });
  const found = new LargestChanges(changesShown);
  const counts = new ChangeCounts();
  const deleted = new Set<string>();
  const effect = effectAt(settings);
  for (const change of diffDrivers(before.readPoints(), acceptedDrivers(scratch.deps))) {
    const seen = effect(change);
    if (seen === undefined) continue;
    counts.add(seen);
    found.add(seen);
    if (seen.deleted.length > 0) deleted.add(seen.id);
  }
  const states = { before: () => before.readPoints(), after: () => acceptedDrivers(scratch.deps) };
  const elsewhere = [...others].map(([source, ids]) => ({ source, drivers: ids.filter((id) => deleted.has(id)) }));
  const source = settings.sources.find(({ name }) => name === target.source);
  return {
    request,
    closed: closedChanges(scratch.deps, states),
    changes: counts.sum(),
    changedPoints: found.count,
    largest: found.shown(),
    isHeld: source !== undefined && (await ledger.holds.held()).some((held) => held.source === target.source),
    isUnread,
    elsewhere: elsewhere.filter(({ drivers }) => drivers.length > 0),
    isReplaced: source !== undefined && scratch.deps.openSource(source).newestOnly === true,
  };
}

/** Drivers of a source that others have, which wait for it to give them up, or for something else. */
function driversElsewhere({ settings, buffer }: Dependencies, of: string): ReadonlyMap<string, readonly string[]> {
  const others = settings.sources.flatMap(({ name: source }) =>
    source === of ? [] : (['candidate', 'partial'] as const).map((kind) => ({ source, kind })),
  );
  const found = new Map<string, string[]>();
  for (const { driver, sources } of buffer.reads.sharedDrivers([{ source: of, kind: 'accepted' }, ...others])) {
    if (!sources.includes(of)) continue;
    for (const source of sources) {
      if (source === of) continue;
      const ids = found.get(source) ?? [];
      ids.push(driver);
      found.set(source, ids);
    }
  }
  return found;
}

/** Outside of the buffer, which is changed next. */
function acceptedNow(deps: Dependencies): Promise<Snapshot> {
  const { shouldDeleteMissing, stamp } = deps.settings;
  return deps.archive.write(acceptedDrivers(deps), { shouldDeleteMissing, stamp }, deps.buffer.reads.origins());
}

function describe(forgotten: Forgotten, deletes: boolean): string {
  const { changes, closed, isReplaced } = forgotten;
  const { drivers, points } = changes;
  const changed = points.update + points.create;
  const parts = [
    ...(drivers.delete + points.delete > 0
      ? [`deletes ${count(drivers.delete, 'driver')} and ${count(points.delete, 'point')}`]
      : []),
    ...(changed > 0 ? [`changes ${count(changed, 'value')}`] : []),
  ];
  const but = isReplaced ? ', but for what the newest of the other files has' : '';
  const when = waitsFor(forgotten) ?? `at the next push${but}`;
  const opened = closed.text === '' ? '' : `; ${closed.text}`;
  if (parts.length > 0) return `forgetting this ${parts.join(' and ')} ${when}${opened}`;
  const why = deletes ? '' : ' (with shouldDeleteMissing: false the service deletes nothing)';
  return `forgetting this changes nothing at the service${why}`;
}

function waitsFor({ isHeld, isUnread }: Forgotten): string | undefined {
  if (isHeld) return 'once the read that waits is accepted without it, but for what that has too';
  return isUnread ? 'once its source was read and that is accepted without it, but for what that has too' : undefined;
}

function showElsewhere({ elsewhere }: Forgotten): string[] {
  return elsewhere.map(({ source, drivers: [first = '', ...more] }) => {
    const which = more.length === 0 ? `driver "${first}"` : `driver "${first}" and ${more.length} more of these`;
    return `${source} has ${which} too: it takes over what it has if nothing else holds its read; until that is accepted it is deleted`;
  });
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
