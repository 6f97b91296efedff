/** Drivers that move from one source to another, in one pass or in two, while whatever may go wrong goes wrong. Each says what it did. */
import type { Entropy } from '../entropy.ts';
import type { Exporting, Owner } from '../world/owner.ts';
import { renamedSource } from '../world/place.ts';
import type { World } from '../world/world.ts';
import { canHappen, dataEvents } from './data-events.ts';
import type { EventKind } from './events.ts';
import { type Doing, worldEvents } from './world-events.ts';

const itemsMax = 4;
/** What goes wrong with an export, or with the read of it, in the moment in which something moves. */
const ofData: readonly EventKind[] = [
  'half',
  'cut',
  'empty',
  'badCells',
  'header',
  'away',
  'vanish',
  'older',
  'readFails',
  'readChanges',
  'readHangs',
];
/** The same of the machine. */
const ofMachine: readonly EventKind[] = ['killWrite', 'killStep', 'fullDisk', 'loseBuffer'];

interface Pair {
  readonly giver: Owner;
  readonly taker: Owner;
}

/** Two sources of one family, of which the first has something to give. */
function somePair({ owners }: World, draw: Entropy): Pair | undefined {
  const givers = owners.filter(({ family, items }) => family.members > 1 && items.length > 1);
  if (givers.length === 0) return undefined;
  const giver = draw.pick(givers, 'giver');
  return { giver, taker: draw.pick(kinOf(owners, giver), 'taker') };
}

function kinOf(owners: readonly Owner[], one: Owner): readonly Owner[] {
  return owners.filter((other) => other.family === one.family && other !== one);
}

/** Some of these, and never all. */
function someOf(items: readonly number[], draw: Entropy): readonly number[] {
  const first = draw.between(0, items.length - 1, 'first');
  const count = draw.between(1, Math.min(itemsMax, items.length - 1), 'count');
  return [...items, ...items].slice(first, first + count);
}

/** Writes what a taker tells of now: as it was where it came from, restated, or with a slip. */
function exportTaken(taker: Owner, items: readonly number[], draw: Entropy): string {
  const how = draw.of('how');
  const slip = draw.pick(['thousandfold', 'sign', 'zeros'] as const, 'slip');
  const slipped: Exporting = how < 0.25 ? { slip, slipping: items } : {};
  if (how > 0.7)
    taker.books.restate(draw.pick(items, 'restated'), draw.between(taker.months.first, taker.months.last, 'month'));
  taker.export({ ...slipped, isInPlace: taker.place.grows && draw.isIn(0.5, 'in place') });
  return how < 0.25 ? ` with a slip: ${slip}` : how > 0.7 ? ', and a number is restated' : '';
}

/** In four of ten moves something goes wrong with either of the two, or with the machine, at that very moment. */
async function troubled(world: World, says: string, { giver, taker }: Pair, draw: Entropy): Promise<string> {
  const drawn = draw.of('trouble');
  if (drawn > 0.4) return says;
  if (drawn > 0.3) return `${says}; ${await worldEvents[draw.pick(ofMachine, 'trouble kind')]?.(world, draw)}`;
  const owner = draw.isIn(0.6, 'of taker') ? taker : giver;
  const kind = draw.pick(
    ofData.filter((one) => canHappen(one, owner.place.kind)),
    'trouble kind',
  );
  const also = dataEvents[kind]?.(owner, draw);
  return also === undefined ? says : `${says}; ${also}`;
}

function named(items: readonly number[]): string {
  return items.length === 1 ? 'something' : `${items.length} things`;
}

export const movingEvents: Readonly<Partial<Record<EventKind, Doing>>> = {
  async move(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { giver, taker } = pair;
    const items = someOf(giver.items, draw);
    giver.give(items);
    taker.take(items);
    giver.export();
    const how = exportTaken(taker, items, draw);
    return troubled(world, `${named(items)} of ${giver.place.name} moved to ${taker.place.name}${how}`, pair, draw);
  },
  async give(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { giver } = pair;
    const isElsewhere = (item: number): boolean => kinOf(world.owners, giver).some(({ items }) => items.includes(item));
    const twice = giver.items.filter(isElsewhere);
    const items = twice.length > 0 && twice.length < giver.items.length ? twice : someOf(giver.items, draw);
    giver.give(items);
    giver.family.homeless = [...giver.family.homeless, ...items.filter((item) => !isElsewhere(item))];
    giver.export();
    return troubled(world, `${giver.place.name} has no longer ${named(items)} that moves elsewhere`, pair, draw);
  },
  async take(world, draw) {
    const takers = world.owners.filter(({ family }) => family.homeless.length > 0);
    if (takers.length === 0) return undefined;
    const taker = draw.pick(takers, 'taker');
    const { family } = taker;
    const items = draw.isIn(0.7, 'all') ? family.homeless : family.homeless.slice(0, 1);
    family.homeless = family.homeless.filter((item) => !items.includes(item));
    taker.take(items);
    const how = exportTaken(taker, items, draw);
    const says = `${taker.place.name} has ${named(items)} now that moved${how}`;
    return troubled(world, says, { giver: draw.pick(kinOf(world.owners, taker), 'giver'), taker }, draw);
  },
  async double(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { giver, taker } = pair;
    const items = someOf(giver.items, draw);
    taker.take(items);
    const how = exportTaken(taker, items, draw);
    return troubled(
      world,
      `${taker.place.name} has ${named(items)} too that ${giver.place.name} has${how}`,
      pair,
      draw,
    );
  },
  async split(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { giver } = pair;
    const takers = kinOf(world.owners, giver);
    const isEnd = draw.isIn(0.4, 'end');
    const items = isEnd ? giver.items : giver.items.slice(1);
    for (const [at, taker] of takers.entries()) taker.take(items.filter((_, index) => index % takers.length === at));
    if (!isEnd) giver.give(items);
    for (const owner of isEnd ? takers : [...takers, giver]) owner.export();
    const says = `${giver.place.name} is split over ${takers.map(({ place }) => place.name).join(' and ')}`;
    return troubled(world, isEnd ? `${says}, ${world.leaveOut(giver.place.name)}` : says, pair, draw);
  },
  async join(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { giver, taker } = pair;
    taker.take(giver.items);
    const how = exportTaken(taker, giver.items, draw);
    const end = world.leaveOut(giver.place.name);
    return troubled(world, `${giver.place.name} is joined to ${taker.place.name}${how}, ${end}`, pair, draw);
  },
  async renameSource(world, draw) {
    const pair = somePair(world, draw);
    if (pair === undefined) return undefined;
    const { name } = draw.pick(world.settings.sources, 'source');
    const sources = world.settings.sources.map((one) =>
      one.name === name ? { ...one, name: renamedSource(name) } : one,
    );
    world.reload({ ...world.settings, sources, digest: `${world.settings.digest}-` });
    return troubled(world, `the config is loaded again: ${name} has another key`, pair, draw);
  },
};
