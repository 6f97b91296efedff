/** What owners drop and bring back, what people approve of it, and nights in which nothing runs. */
import { Entropy } from '../entropy.ts';
import type { Owner } from '../world/owner.ts';
import type { Fleet } from './fleet.ts';
import type { Shown } from './fleet-people.ts';

type Doing = (fleet: Fleet, draw: Entropy) => string | undefined;

const hourMs = 3_600_000;
const nightsMs = [2, 25, 25, 25, 10 * 24, 32 * 24].map((hours) => hours * hourMs);

/** Leaves out a number, or an item with few of them. */
function dropLittle(owner: Owner, draw: Entropy): boolean {
  const spare = owner.spareItems;
  if (spare.length > 0 && draw.isIn(0.5, 'item')) {
    owner.leaveOut(draw.pick(spare, 'little item'));
    return true;
  }
  const items = owner.items.filter((item) => owner.monthsOf(item).length > 1);
  if (items.length === 0) return false;
  const item = draw.pick(items, 'dropped item');
  owner.leaveOutMonth(item, draw.pick(owner.monthsOf(item), 'dropped month'));
  return true;
}

/** Leaves out half of what there is, or more. */
function dropMuch(owner: Owner, draw: Entropy): boolean {
  const count = Math.ceil(owner.items.length * (0.4 + 0.5 * draw.of('much')));
  let dropped = 0;
  for (; dropped < count && owner.spareItems.length > 0; dropped++)
    owner.leaveOut(draw.pick(owner.spareItems, 'much item', dropped));
  return dropped > 0;
}

function dropping(drop: (owner: Owner, draw: Entropy) => boolean, says: string): Doing {
  return (fleet, draw) => {
    const owner = draw.pick(fleet.owners, 'owner');
    if (!drop(owner, draw)) return undefined;
    fleet.export(owner);
    return `${says} of ${owner.place.name}`;
  };
}

/** All machines are off for so long, and nothing is on its way. */
function sleepNight(fleet: Fleet, ms: number): boolean {
  if (fleet.checks.isFlying) return false;
  for (const machine of fleet.machines) machine.kill();
  fleet.clock.jump(ms);
  for (const machine of fleet.machines) machine.start();
  return true;
}

function killLeader(fleet: Fleet): void {
  const { leader } = fleet;
  if (leader === undefined) return;
  leader.kill();
  fleet.later(2 * fleet.leaseMs, () => leader.start());
}

/** Most of a source goes, and is approved once somebody has seen it, whoever leads then. */
function meantDrop(fleet: Fleet, draw: Entropy): string | undefined {
  const owner = draw.pick(fleet.owners, 'owner');
  if (!dropMuch(owner, draw)) return undefined;
  fleet.export(owner);
  fleet.later(draw.between(1, 2 * fleet.leaseMs, 'seen'), () => {
    const held = fleet.people.shown.findLast(({ source }) => source === owner.place.name);
    if (held !== undefined) fleet.note(approveShown(fleet, draw, held) ?? 'nobody approves it');
    if (draw.isIn(0.5, 'answered')) return;
    // Whoever led then is gone once the approval is used, before its push or after it.
    fleet.network.fates.push({ landsAfterMs: draw.isIn(0.5, 'lands') ? 200 : undefined, isAnswered: false });
    fleet.later(draw.between(0, 12_000, 'then'), () => killLeader(fleet));
  });
  return `most of ${owner.place.name} is dropped, and that is approved`;
}

/** On some machine, at once or not, and now and then more goes at that moment. */
function approveShown(fleet: Fleet, draw: Entropy, held: Shown): string | undefined {
  const machine = draw.pick(fleet.machines, 'machine');
  if (machine.cutUntilMs > fleet.clock.monotonicMs()) return undefined;
  const afterMs = draw.isIn(0.6, 'at once') ? 0 : draw.between(1, fleet.leaseMs / 2, 'after');
  fleet.people.approve(held, afterMs);
  const says = `somebody approves ${held.digest.slice(0, 12)} of ${held.source} on ${machine.name}`;
  if (draw.isIn(0.6, 'alone')) return says;
  const owner = fleet.owners.find(({ place }) => place.name === held.source)!;
  if (!(draw.isIn(0.5, 'more') ? dropMuch : dropLittle)(owner, draw)) return says;
  fleet.export(owner);
  return `${says}, and at that moment more is gone`;
}

const wears = { nothing: 'nothing', killed: 'the agent that leads killed', night: 'a night' } as const;

export const dropEvents = {
  dropLittle: dropping(dropLittle, 'a little'),
  dropMuch: dropping(dropMuch, 'most'),
  dropOldest: dropping((owner) => owner.dropOldest(), 'the oldest month'),
  bringBack: dropping((owner) => owner.bringBack(), 'all that was dropped is back: that'),
  wearAway(fleet, draw) {
    const owner = draw.pick(fleet.owners, 'owner');
    if (!dropLittle(owner, draw)) return undefined;
    fleet.export(owner);
    const times = draw.between(2, 4, 'times');
    const everyMs = draw.between(1000, fleet.leaseMs, 'every');
    const meanwhile = draw.pick(['nothing', 'killed', 'night'] as const, 'meanwhile');
    for (let at = 1; at <= times; at++) {
      fleet.later(at * everyMs, () => {
        if (meanwhile === 'killed') killLeader(fleet);
        if (meanwhile === 'night') sleepNight(fleet, 25 * hourMs);
        if (dropLittle(owner, new Entropy(draw.between(0, 2 ** 31, 'again', at)))) fleet.export(owner);
      });
    }
    return `${owner.place.name} loses a little ${times + 1} times, with ${wears[meanwhile]} in between`;
  },
  approve(fleet, draw) {
    const { shown } = fleet.people;
    const newest = shown.at(-1);
    if (newest === undefined) return meantDrop(fleet, draw);
    return approveShown(fleet, draw, draw.isIn(0.7, 'newest') ? newest : draw.pick(shown, 'shown'));
  },
  dropMuchMeant: (fleet, draw) => meantDrop(fleet, draw),
  /** The approval of the first time is none for the second one. */
  dropTwice(fleet, draw) {
    const did = meantDrop(fleet, draw);
    if (did === undefined) return undefined;
    const owner = draw.pick(fleet.owners, 'owner');
    const { dropped } = owner;
    fleet.later(3 * fleet.leaseMs, () => {
      if (owner.bringBack()) fleet.export(owner);
    });
    fleet.later(4 * fleet.leaseMs, () => {
      for (const item of dropped) if (owner.spareItems.includes(item)) owner.leaveOut(item);
      fleet.export(owner);
    });
    return `${did}; later it comes back, and is dropped again`;
  },
  night(fleet, draw) {
    const ms = draw.pick(nightsMs, 'night');
    return sleepNight(fleet, ms) ? `all machines are off for ${ms / hourMs} h` : undefined;
  },
} as const satisfies Readonly<Record<string, Doing>>;
