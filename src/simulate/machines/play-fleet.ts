/** Plays a history of machines that share a ledger: what happens to them, then a time without faults, in which all come to rest. */
import { Entropy } from '../entropy.ts';
import { type Played, violationOf } from '../history/play.ts';
import { weighted } from '../history/draw.ts';
import { Journal } from '../journal.ts';
import { Violation } from '../promises.ts';
import type { Stage } from '../world/world.ts';
import { Fleet } from './fleet.ts';
import { type FleetKind, fleetEvents, fleetKinds } from './fleet-events.ts';

interface FleetEvent {
  readonly kind: FleetKind;
  readonly gapMs: number;
  readonly draw: number;
}

/** As long as a term, and much shorter. */
const gapsMs = [300, 3000, 12_000, 40_000];
const eventsMax = 12;
const restMaxMs = 10 * 60_000;
const lookMs = 10_000;
/** What is held for so long after the last change is held for good, until somebody approves it. */
const heldForMs = 30_000;

function drawFleet(seed: number): readonly FleetEvent[] {
  const entropy = new Entropy(seed);
  const share = 0.15 + 0.6 * entropy.of('share');
  const kinds = fleetKinds.filter((kind) => kind === 'restate' || entropy.isIn(share, 'kind', kind));
  const weights = kinds.map((kind) => 0.2 + entropy.of('weight', kind));
  const usualMs = entropy.pick(gapsMs, 'gap');
  return Array.from({ length: entropy.between(3, eventsMax, 'events') }, (_, at): FleetEvent => {
    const gapMs = entropy.isIn(0.7, 'usual', at) ? usualMs : entropy.pick(gapsMs, 'other gap', at);
    return {
      kind: weighted(kinds, weights, entropy.of('event', at)),
      gapMs: Math.floor(gapMs * (0.5 + entropy.of('length', at))),
      draw: entropy.between(0, 2 ** 31, 'draw', at),
    };
  });
}

export async function playFleet(stage: Stage, seed: number, isKept = false): Promise<Played> {
  const journal = new Journal(isKept);
  const fleet = new Fleet(stage, seed, journal);
  let step = 0;
  const played = (): Omit<Played, 'violation'> => {
    const { digest, marks, lines } = journal;
    return { steps: step + fleet.passes, digest, marks, lines, told: fleet.told };
  };
  try {
    for (const owner of fleet.owners) fleet.export(owner);
    for (const { places } of fleet.machines) for (const place of places.values()) place.isAway = false;
    for (const machine of fleet.machines) machine.start();
    await fleet.advance(30_000);
    for (const { kind, gapMs, draw } of drawFleet(seed)) {
      step++;
      await fleet.advance(gapMs);
      fleet.noteDiffering();
      const did = fleetEvents[kind](fleet, new Entropy(draw));
      if (did === undefined) continue;
      journal.mark(`event ${kind}`);
      fleet.note(did);
      fleet.tell(did);
    }
    step++;
    await rest(fleet);
  } catch (error) {
    return { ...played(), violation: { ...violationOf(error), step } };
  } finally {
    for (const machine of fleet.machines) machine.kill();
  }
  return played();
}

/** All that is wrong is mended: what is there arrives, and what is new in each source after that. */
async function rest(fleet: Fleet): Promise<void> {
  // What was to happen later has happened.
  await fleet.advance(8 * fleet.leaseMs);
  fleet.network.fates = [];
  fleet.lags.clear();
  for (const machine of fleet.machines) {
    machine.heal();
    for (const place of machine.places.values()) place.isAway = false;
    machine.start();
  }
  fleet.note('all faults have ended');
  fleet.tell('all faults have ended');
  await rolledBack(fleet);
  // Something new would take along whatever was accepted and forgotten.
  await arrival(fleet);
  for (const owner of fleet.owners) {
    const item = owner.items[0] ?? 0;
    owner.books.restate(item, owner.monthsOf(item).at(-1) ?? owner.months.last);
    fleet.export(owner);
  }
  fleet.tell('the newest exports are there');
  await arrival(fleet);
}

/** A rollback that somebody asked for is carried out, or refused. */
async function rolledBack(fleet: Fleet): Promise<void> {
  for (let waitedMs = 0; await fleet.people.isRollbackAwaited(); waitedMs += lookMs) {
    if (waitedMs > restMaxMs) throw new Violation('arrives', 'a rollback that was asked for is not carried out');
    await fleet.advance(lookMs);
  }
}

async function arrival(fleet: Fleet): Promise<void> {
  for (let waitedMs = 0; fleet.whyNotArrived() !== undefined; waitedMs += lookMs) {
    if (waitedMs > restMaxMs) throw new Violation('arrives', fleet.whyNotArrived() ?? '');
    await fleet.advance(lookMs);
    if (waitedMs % heldForMs !== 0) continue;
    // Polls are rare in this world, and an agent that follows hears of a push by the next one.
    for (const machine of fleet.machines) for (const source of machine.places.keys()) machine.sees(source);
    if (fleet.checks.rollback.isAsked) fleet.goOn();
    if (waitedMs > 0) await fleet.people.settle();
  }
}
