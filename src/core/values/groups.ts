/** The groups that a finding can name, as a tree of path elements, and the smallest set of them that explains it. */
import type { Month } from '../model.ts';

/** How much of a group could show each kind of finding. Points, or drivers where it says so. */
export interface Totals {
  /** Not 0 before. */
  valued: number;
  changed: number;
  movable: number;
  /** Drivers. */
  scaled: number;
  /** Drivers. */
  signed: number;
  /** Drivers, by months before others that stayed as they were. */
  lateScaled: number;
  /** Drivers, likewise. */
  lateSigned: number;
  /** Drivers. */
  unzeroed: number;
  /** Drivers. */
  repeating: number;
  /** Drivers. */
  movableDrivers: number;
  /** Drivers that changed. */
  exchangeable: number;
  closed: number;
  /** Of the points that changed. */
  readings: number;
  /** Drivers that have points of several readings. */
  counted: number;
}

/** How much of a group shows a finding. */
export interface Tally {
  /** Readings, where these are counted. */
  points: number;
  drivers: number;
  /** In bits: how clearly the values tell a factor that is no power of ten. */
  evidence: number;
  /** Where it is about some months alone. A group of one driver keeps that driver's list. */
  months: readonly Month[] | Set<Month> | undefined;
}

/** A slip in all drivers makes a group for each: what most of them lack is not made before it is needed. */
export class Group {
  #children: Map<string, Group> | undefined;
  /** The driver whose path this is, where others are below it, as parts are below their total. */
  #own: Group | undefined;
  #isDriver = false;
  #isAround = false;
  /** It has nothing of the drivers below its path. */
  readonly isAlone: boolean;
  readonly totals: Totals = {
    valued: 0,
    changed: 0,
    movable: 0,
    scaled: 0,
    signed: 0,
    lateScaled: 0,
    lateSigned: 0,
    unzeroed: 0,
    repeating: 0,
    movableDrivers: 0,
    exchangeable: 0,
    closed: 0,
    readings: 0,
    counted: 0,
  };
  readonly tallies = new Map<string, Tally>();
  /** For each of the 12 months before the newest: drivers that repeated the month before (`did`), and drivers with values in both (`known`). */
  repeats: { readonly did: Uint32Array; readonly known: Uint32Array } | undefined;

  constructor(isAlone = false) {
    this.isAlone = isAlone;
  }

  tally(key: string): Tally {
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      tally = { points: 0, drivers: 0, evidence: 0, months: undefined };
      this.tallies.set(key, tally);
    }
    return tally;
  }

  /** The groups within it that have no group between, each with the rest of its path. */
  get parts(): readonly (readonly [path: readonly string[], group: Group])[] {
    const children = [...(this.#children ?? [])].map(([element, child]) => [[element], child] as const);
    return this.#own === undefined ? children : [[[], this.#own], ...children];
  }

  /** The groups that a path leads through to drivers below its end, from the top. */
  *through([element, ...rest]: readonly string[]): Generator<Group, Group> {
    if (element === undefined) return this;
    const next = this.#child(element);
    next.#setApart();
    yield next;
    return yield* next.through(rest);
  }

  /** The groups below it that a driver is in, from the top. The last one is of this driver alone. */
  *to(path: readonly string[]): Generator<Group> {
    const above = yield* this.through(path.slice(0, -1));
    const last = above.#child(path.at(-1) ?? '');
    yield last;
    last.#isDriver = true;
    if (!last.#isAround) return;
    last.#own ??= new Group(true);
    yield last.#own;
  }

  #child(element: string): Group {
    this.#children ??= new Map();
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new Group();
      this.#children.set(element, child);
    }
    return child;
  }

  /** Keeps what is counted of its own driver, before others are. */
  #setApart(): void {
    if (this.#isAround) return;
    this.#isAround = true;
    if (this.#isDriver) this.#own = this.#copy();
  }

  #copy(): Group {
    const copy = new Group(true);
    Object.assign(copy.totals, this.totals);
    for (const [key, tally] of this.tallies) copy.tallies.set(key, { ...tally });
    // What drivers repeat says something of ten and more of them.
    return copy;
  }
}

/** How a kind of finding is judged. */
export interface Measure {
  /** How much of a group shows it, and how much could: points or drivers. */
  count(group: Group, tally: Tally): { readonly found: number; readonly of: number };
  isSlip(group: Group, tally: Tally): boolean;
  /** Whether it is plain to see in what changed, though the slip does not fill the group. */
  isSlipInChanged?(group: Group, tally: Tally): boolean;
}

export interface Explained {
  readonly path: readonly string[];
  readonly group: Group;
  readonly tally: Tally;
  readonly isFull: boolean;
}

/** A slip that is scattered over more groups than a person can look at is named by the group around them. */
const partsMax = 50;

/**
 * The groups in which a finding is plain to see, the largest that it fills. A group is named by one of its children where that
 * one has nearly all of it and the others have little, and by those that it fills where it does not fill the group itself.
 */
export function explain(
  group: Group,
  key: string,
  measure: Measure,
  path: readonly string[] = [],
): readonly Explained[] {
  const tally = group.tallies.get(key);
  if (tally === undefined) return [];
  const isFull = measure.isSlip(group, tally);
  const isSlip = isFull || measure.isSlipInChanged?.(group, tally) === true;
  const whole = { path, group, tally, isFull };
  if (isFull && !isOfOneChild(group, key, measure)) return [whole];
  const parts = group.parts.flatMap(([rest, part]) => explain(part, key, measure, [...path, ...rest]));
  if (parts.length === 0) return isSlip ? [whole] : [];
  if (parts.length > partsMax) return [whole];
  if (!isSlip || isFull || isOfOneChild(group, key, measure) || fill(parts, tally)) return parts;
  return [whole];
}

/** Whether the groups that a slip fills have nearly all of it. */
function fill(parts: readonly Explained[], { points }: Tally): boolean {
  const filled = parts.reduce((sum, part) => sum + (part.isFull ? part.tally.points : 0), 0);
  return filled * 20 >= points * 19;
}

function isOfOneChild(group: Group, key: string, measure: Measure): boolean {
  const tally = group.tally(key);
  const whole = measure.count(group, tally);
  for (const [, child] of group.parts) {
    const share = child.tallies.get(key);
    if (share === undefined) continue;
    if (tally.drivers === 1) return true;
    const part = measure.count(child, share);
    if (part.found * 20 < whole.found * 19) continue;
    const rest = { found: whole.found - part.found, of: whole.of - part.of };
    // An element that all drivers share says no more than the source does. One below it may.
    return rest.of <= 0 ? isOfOneChild(child, key, measure) : rest.found * 2 < rest.of;
  }
  return false;
}
