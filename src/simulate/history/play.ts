/** Plays a history: its events with their faults, then a time without any, in which the newest data has to arrive. */
import { isAgentError } from '../../core/errors.ts';
import { Entropy } from '../entropy.ts';
import { Journal } from '../journal.ts';
import { type PromiseName, Violation } from '../promises.ts';
import { type Stage, type Watcher, World } from '../world/world.ts';
import { castFor } from '../stage.ts';
import { configEvents } from './config-events.ts';
import { canHappen, dataEvents } from './data-events.ts';
import type { History, HistoryEvent } from './events.ts';
import { movingEvents } from './moving-events.ts';
import { peopleEvents, worldEvents } from './world-events.ts';

export interface Played {
  readonly steps: number;
  readonly digest: string;
  readonly marks: ReadonlyMap<string, number>;
  /** All that was observed, where it was kept. */
  readonly lines: readonly string[];
  /** The same for a person: one line for each step. */
  readonly told: readonly string[];
  readonly violation?: { readonly promise: PromiseName; readonly how: string; readonly step: number } | undefined;
}

export interface Watched {
  /** Keeps what was observed. */
  readonly isKept?: boolean;
  readonly watcher?: Watcher;
  /** Called once all is over and was pushed, or after this time: nothing is healed then. */
  readonly ended?: (world: World) => void;
  readonly endsAfterMs?: number;
}

/** How long nothing happens at first. */
export const firstEventMs = 60_000;

export async function play(stage: Stage, history: History, watched: Watched = {}): Promise<Played> {
  const { isKept = false, watcher, ended, endsAfterMs } = watched;
  const journal = new Journal(isKept);
  const world = new World(castFor(stage, history.seed), history.seed, { journal, watcher });
  let step = 0;
  try {
    watcher?.begun(world);
    for (const owner of world.owners) owner.export();
    // Some histories begin with a share that is not mounted.
    if (world.entropy.isIn(0.2, 'unmounted')) world.entropy.pick(world.owners, 'unmounted owner').place.isAway = true;
    await world.process.start();
    await world.advance(firstEventMs);
    for (const event of history.events) {
      step++;
      await world.advance(event.gapMs);
      const did = await happen(world, event);
      if (did === undefined) continue;
      journal.mark(`event ${event.kind}`);
      world.note(did);
      world.tell(did);
      await world.advance(1000);
    }
    step++;
    if (ended === undefined) {
      await heal(world);
      await arrive(world);
    } else {
      await world.advance(endsAfterMs ?? Math.min(untilTwoDue(world), waitedMaxMs));
      ended(world);
    }
  } catch (error) {
    return { ...playedOf(world, step), violation: { ...violationOf(error), step } };
  } finally {
    world.process.plug.pull();
  }
  return playedOf(world, step);
}

function playedOf({ journal, passes, told }: World, step: number): Omit<Played, 'violation'> {
  return { steps: step + passes, digest: journal.digest, marks: journal.marks, lines: journal.lines, told };
}

/** What ended a history. */
export function violationOf(error: unknown): { readonly promise: PromiseName; readonly how: string } {
  if (error instanceof Violation) return { promise: error.promise, how: error.message };
  return { promise: 'ends', how: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

async function happen(world: World, { kind, draw }: HistoryEvent): Promise<string | undefined> {
  const entropy = new Entropy(draw);
  const toData = dataEvents[kind];
  if (toData !== undefined) {
    const owners = world.owners.filter(({ place }) => canHappen(kind, place.kind));
    return owners.length === 0 ? undefined : toData(entropy.pick(owners, 'source'), entropy);
  }
  try {
    return await (worldEvents[kind] ?? peopleEvents[kind] ?? configEvents[kind] ?? movingEvents[kind])?.(
      world,
      entropy,
    );
  } catch (error) {
    // What a command is told on a full disk.
    if (isAgentError(error)) return `${kind}: ${error.message}`;
    throw error;
  }
}

/** All that is wrong is mended: the disk, the service, the places. */
async function heal(world: World): Promise<void> {
  world.disk.isFull = false;
  world.receiver.heal();
  for (const owner of world.owners) {
    owner.place.faults.length = 0;
    if (owner.place.kind.isNewestOnly) owner.place.removeAfter(world.clock.now().getTime());
    // Something is new for sure.
    owner.books.restate(owner.items[0] ?? 0, owner.months.last);
    if (owner.place.grows) {
      owner.changeAbove(world.entropy);
      owner.addMonth();
    }
    owner.export({ isInPlace: owner.place.grows });
  }
  if (world.process.plug.isPulled) await world.restart('killed');
  world.note('all faults have ended');
  world.tell('all faults have ended, and the newest exports are there');
}

const hourMs = 3_600_000;
/** Beside that: polls, repeats, and what `Retry-After` asked for. */
const quietMs = 16 * hourMs;

/** The newest data is acknowledged within a bounded time, or what holds it up has a name. */
async function arrive(world: World): Promise<void> {
  const { settings } = world;
  const { pushOnChangeMs } = settings;
  const timeoutMs = settings.destination === 'emulator' ? 0 : settings.destination.timeoutMs;
  const limitMs =
    (pushOnChangeMs === undefined ? untilTwoDue(world) : 10 * pushOnChangeMs) + Math.max(quietMs, 8 * timeoutMs);
  const waits = 8;
  await world.advance(2 * hourMs);
  for (let at = 0; at < waits && !hasArrived(world); at++) await world.advance(limitMs / waits);
  // What was refused waits for the next schedule time, unless something is new.
  if (!hasArrived(world) && lastOutcome(world) === 'refused')
    await world.advance(Math.min(untilTwoDue(world), waitedMaxMs));
  // A clock that is set forward brings the repeats of a push forward too: what lands after them stays until the next refresh, which is
  // the first time of the schedule behind it.
  if (!hasArrived(world) && world.checks.clockSetMs > -Infinity) {
    await world.advance(settings.refreshMs);
    if (!hasArrived(world)) await world.advance(Math.min(untilTwoDue(world), waitedMaxMs));
  }
  if (!hasArrived(world)) throw new Violation('arrives', whyNot(world));
}

/** A schedule that is rarer is not waited for. */
const waitedMaxMs = 40 * 24 * hourMs;

function lastOutcome({ lastReport }: World): string | undefined {
  return lastReport?.outcome;
}

/** As long as two schedule times take. */
function untilTwoDue({ clock, stage, settings }: World): number {
  const due = (after: Date): Date => stage.schedule.nextDue(settings.schedule, settings.timezone, after);
  return due(due(clock.now())).getTime() - clock.now().getTime();
}

function hasArrived({ checks, wire, lastReport, settings }: World): boolean {
  if (lastReport === undefined) return false;
  // A rollback holds until somebody goes on, and a first push until every source was accepted: both say so.
  if (lastReport.outcome === 'blocked') return lastReport.reason !== undefined;
  const isRight = ({ name }: { readonly name: string }): boolean => {
    const { state, reason, hint = '' } = lastReport.sources.find((source) => source.name === name) ?? {};
    // Where nothing is deleted, a source whose share of a sum is lost is not held but unread, until somebody decides about it.
    const waits = state === 'held' || (!settings.shouldDeleteMissing && hint.includes('driver-sync forget'));
    return checks.isCurrent(name) || (waits && reason !== undefined);
  };
  return settings.sources.every(isRight) && wire.isServed();
}

function whyNot({ checks, lastReport, settings }: World): string {
  if (lastReport === undefined) return 'no pass has ended';
  const behind = settings.sources.filter(({ name }) => !checks.isCurrent(name)).map(({ name }) => name);
  const states = lastReport.sources.map(({ name, state, reason = '' }) => `${name} ${state} ${reason}`).join('; ');
  return `${behind.length > 0 ? `${behind.join(', ')} not accepted` : 'not pushed'}; the last pass: ${lastReport.outcome} ${lastReport.reason ?? ''} (${states})`;
}
