/** The groups that a finding can name, as a tree of path elements, and the smallest set of them that explains it. */
import type { Month } from '../model.ts';

/** What could have shown a finding, by the kinds of finding. Counts of points, or of drivers where it says so. */
export interface Totals {
  /** Not 0 before. */
  valued: number;
  changed: number;
  movable: number;
  /** Drivers. */
  scaled: number;
  /** Drivers. */
  signed: number;
  /** Drivers. */
  unzeroed: number;
  /** Drivers. */
  repeating: number;
  /** Drivers. */
  movableDrivers: number;
  /** Drivers that changed. */
  exchangeable: number;
  closed: number;
}

/** What shows a finding. */
export interface Tally {
  points: number;
  drivers: number;
  /** In bits, of factors that values tell only roughly. */
  evidence: number;
  readonly months: Set<Month>;
}

export class Group {
  readonly children = new Map<string, Group>();
  readonly totals: Totals = {
    valued: 0,
    changed: 0,
    movable: 0,
    scaled: 0,
    signed: 0,
    unzeroed: 0,
    repeating: 0,
    movableDrivers: 0,
    exchangeable: 0,
    closed: 0,
  };
  readonly tallies = new Map<string, Tally>();
  /** Drivers that repeated the month before, for each month of the year before the newest, and those with values to say so. */
  repeats: { readonly did: Uint32Array; readonly known: Uint32Array } | undefined;

  tally(key: string): Tally {
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      tally = { points: 0, drivers: 0, evidence: 0, months: new Set() };
      this.tallies.set(key, tally);
    }
    return tally;
  }

  child(element: string): Group {
    let child = this.children.get(element);
    if (child === undefined) {
      child = new Group();
      this.children.set(element, child);
    }
    return child;
  }
}

/** How a kind of finding is judged. */
export interface Measure {
  /** How much of a group shows it, and how much could: points or drivers. */
  count(group: Group, tally: Tally): { readonly found: number; readonly of: number };
  isSlip(group: Group, tally: Tally): boolean;
}

export interface Explained {
  readonly path: readonly string[];
  readonly group: Group;
  readonly tally: Tally;
}

/**
 * The groups in which a finding is plain to see, the largest that it fills: a group is named by one of its children where that
 * one has nearly all of it and the others have little.
 */
export function explain(
  group: Group,
  key: string,
  measure: Measure,
  path: readonly string[] = [],
): readonly Explained[] {
  const tally = group.tallies.get(key);
  if (tally === undefined) return [];
  const isSlip = measure.isSlip(group, tally);
  if (isSlip && !isOfOneChild(group, key, measure)) return [{ path, group, tally }];
  const parts = [...group.children].flatMap(([element, child]) => explain(child, key, measure, [...path, element]));
  return parts.length === 0 && isSlip ? [{ path, group, tally }] : parts;
}

function isOfOneChild(group: Group, key: string, measure: Measure): boolean {
  const tally = group.tally(key);
  const whole = measure.count(group, tally);
  for (const child of group.children.values()) {
    const share = child.tallies.get(key);
    if (share === undefined) continue;
    if (tally.drivers === 1) return true;
    const part = measure.count(child, share);
    if (part.found * 20 < whole.found * 19) continue;
    const rest = { found: whole.found - part.found, of: whole.of - part.of };
    // An element that all drivers share says no more than the source: what is below it may.
    return rest.of <= 0 ? isOfOneChild(child, key, measure) : rest.found * 2 < rest.of;
  }
  return false;
}
