/** The second walk: counts what is sought in every group of drivers, and names the groups in which it is plain to see. */
import type { Month } from '../model.ts';
import type { PackedPoints } from '../series/packing.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import { completed } from './examples.ts';
import { type BothReads, type Pair, exchangedPoints } from './exchanged.ts';
import { evidence, isInRange } from './factor-range.ts';
import { findLoss } from './fewer.ts';
import type { Finding, FindingKind, ReachingFinding } from './finding.ts';
import { type Explained, Group, type Tally, type Totals, explain } from './groups.ts';
import { DriverLook, type DriverPairs } from './look.ts';
import {
  type Found,
  type Sought,
  copiedSought,
  exchangedSought,
  fewerSought,
  isAbout,
  lateSignSought,
  newSignSought,
  newZerosSought,
} from './measures.ts';
import { canMove } from './moved.ts';
import type { Tail } from './tail.ts';
import { formatMonth } from '../time/month.ts';

export interface SurveyOptions {
  readonly rules: ValueRules;
  readonly exchanges: readonly Pair[];
}

/** @param pairs walks both reads from the beginning, each time that it is called */
export function survey(
  pairs: () => DriverPairs,
  sought: readonly Sought[],
  { rules, exchanges }: SurveyOptions,
): readonly ReachingFinding[] {
  const groups = new GroupSurvey(sought, rules, exchanges);
  for (const [before, after] of pairs()) groups.add(before, after);
  const found = groups.findings();
  return found.length === 0 ? [] : completed(pairs(), found, { rules, showing: groups });
}

/** What one driver adds to the groups that it is in. */
interface Share {
  readonly totals: Partial<Totals>;
  readonly shown: readonly Shown[];
  readonly tail: Tail | undefined;
}

interface Shown {
  readonly key: string;
  readonly points: number;
  readonly evidence?: number;
  readonly months?: readonly Month[];
}

class GroupSurvey {
  readonly #root = new Group();
  readonly #sought: readonly Sought[];
  readonly #rules: ValueRules;
  readonly #pairs: readonly Pair[];
  /** The drivers of these pairs. */
  readonly #paired: ReadonlySet<string>;
  readonly #reads = new Map<string, BothReads & { readonly path: readonly string[] }>();
  readonly #look = new DriverLook();
  /** See `Showing`. */
  readonly places = new Map<string, number[]>();
  readonly partners = new Map<string, string>();
  #drivers = 0;

  constructor(sought: readonly Sought[], rules: ValueRules, pairs: readonly Pair[]) {
    this.#sought = sought;
    this.#rules = rules;
    this.#pairs = pairs;
    this.#paired = new Set(pairs.flat());
  }

  add(before: PackedPoints | undefined, after: PackedPoints | undefined): void {
    const { id, path: text } = (after ?? before) as PackedPoints;
    const path = JSON.parse(text) as string[];
    const isPaired = this.#paired.has(id);
    if (isPaired && before !== undefined && after !== undefined) {
      this.#reads.set(id, { path, old: Buffer.from(before.points), now: Buffer.from(after.points) });
    }
    const share = this.#shareOf(before, after, isPaired);
    this.#note(share.shown);
    // Drivers that show nothing count in their groups, and need no group of their own.
    const isShown = isPaired || share.shown.length > 0;
    addShare(this.#root, share);
    for (const group of isShown ? this.#root.to(path) : this.#root.through(path.slice(0, -1))) addShare(group, share);
  }

  #note(shown: readonly Shown[]): void {
    const place = this.#drivers++;
    for (const { key } of shown) {
      const places = this.places.get(key);
      if (places === undefined) this.places.set(key, [place]);
      else places.push(place);
    }
  }

  #shareOf(before: PackedPoints | undefined, after: PackedPoints | undefined, isPaired: boolean): Share {
    const look = this.#look;
    look.load(before, after);
    const { old, now, valued, changed, tail, late } = look;
    const isBoth = old.count > 0 && now.count > 0;
    const movable = isBoth && canMove(old);
    const months = closedMonths(look, this.#rules);
    const loss = this.#sought.includes(fewerSought) ? findLoss(look, { before, after }, this.#rules) : undefined;
    const shown: Shown[] = months.length === 0 ? [] : [{ key: 'closed', points: months.length, months }];
    if (isBoth) shown.push(...this.#shownBy(look, isPaired));
    if (loss !== undefined && loss.lost > 0)
      shown.push({ key: fewerSought.key, points: loss.lost, months: loss.months });
    return {
      totals: {
        valued,
        changed,
        movable: movable ? old.count : 0,
        movableDrivers: Number(movable),
        exchangeable: Number(old.count >= 6 && now.count >= 6),
        closed: closedPoints(look, this.#rules),
        scaled: Number(tail?.hasScale === true),
        signed: Number(tail?.hasSign === true),
        lateScaled: Number(late?.hasScale === true),
        lateSigned: Number(late?.hasSign === true),
        unzeroed: Number(tail?.hasNoZero === true),
        repeating: Number(tail?.repeats !== undefined),
        readings: loss?.had ?? 0,
        counted: Number(loss !== undefined),
      },
      shown,
      tail,
    };
  }

  #shownBy(look: DriverLook, isPaired: boolean): readonly Shown[] {
    const { move, exact, zeroed, tail, late } = look;
    if (move !== undefined) return [{ key: `moved ${move.months}`, points: move.points }].filter(this.#isSought);
    const shown: Shown[] = [...exact].map(([factor, points]) => ({ key: `exact ${factor}`, points }));
    if (zeroed > 0) shown.push({ key: 'zeros', points: zeroed });
    if (look.isUnexplained && !isPaired) shown.push(...this.#factorsOf(look));
    if (tail !== undefined) {
      const months = [tail.month];
      for (const exponent of tail.exponents) shown.push({ key: `new scale ${exponent}`, points: 1, months });
      if (tail.isTurned) shown.push({ key: newSignSought.key, points: 1, months });
      if (tail.isZero && tail.hasNoZero) shown.push({ key: newZerosSought.key, points: 1, months });
      if (tail.repeats?.isRepeated === true) shown.push({ key: copiedSought.key, points: 1, months });
    }
    if (late !== undefined) {
      const months = [late.month];
      for (const exponent of late.exponents) shown.push({ key: `late scale ${exponent}`, points: 1, months });
      if (late.isTurned) shown.push({ key: lateSignSought.key, points: 1, months });
    }
    return shown.filter(this.#isSought);
  }

  readonly #isSought = ({ key }: Shown): boolean => this.#sought.some((one) => one.key === key);

  #factorsOf(look: DriverLook): readonly Shown[] {
    const factors = this.#sought.filter((one) => one.factor !== undefined && one.key.startsWith('factor '));
    if (factors.length === 0) return [];
    const counts = factors.map(({ key, factor }) => ({ key, factor: Number(factor), points: 0, evidence: 0 }));
    for (const range of look.valuedRanges()) {
      if (range === undefined) continue;
      for (const one of counts) {
        if (!isInRange(one.factor, range)) continue;
        one.points++;
        one.evidence += evidence(one.factor, range);
      }
    }
    return counts.filter(({ points }) => points > 0);
  }

  findings(): readonly Found[] {
    const others = this.#addExchanges();
    const found: Found[] = [];
    for (const sought of this.#sought) {
      for (const explained of explain(this.#root, sought.key, sought.measure)) {
        if (isExplained(sought, explained, found)) continue;
        const { path, group, tally } = explained;
        const isOne = sought.kind === 'exchanged' && tally.drivers === 1;
        const other = isOne ? others.get(JSON.stringify(path)) : undefined;
        const finding = { ...findingOf(sought, explained), ...(other && { with: other }) };
        found.push({ sought, finding, drivers: tally.drivers, isAlone: group.isAlone });
      }
    }
    return found;
  }

  /** @returns for the path of each driver that was exchanged the path of the other one */
  #addExchanges(): ReadonlyMap<string, readonly string[]> {
    const others = new Map<string, readonly string[]>();
    for (const [a, b] of this.#pairs) {
      const [one, other] = [this.#reads.get(a), this.#reads.get(b)];
      const points = one && other && exchangedPoints(one, other);
      if (points === undefined || one === undefined || other === undefined) continue;
      this.#addShown(one.path, { key: exchangedSought.key, points: points.one });
      this.#addShown(other.path, { key: exchangedSought.key, points: points.other });
      this.partners.set(a, b).set(b, a);
      others.set(JSON.stringify(one.path), other.path).set(JSON.stringify(other.path), one.path);
    }
    return others;
  }

  #addShown(path: readonly string[], shown: Shown): void {
    addTally(this.#root, shown);
    for (const group of this.#root.to(path)) addTally(group, shown);
  }
}

function addShare(group: Group, { totals, shown, tail }: Share): void {
  for (const [name, more] of Object.entries(totals)) group.totals[name as keyof Totals] += more;
  for (const one of shown) addTally(group, one);
  if (tail?.repeats === undefined) return;
  const { did, known } = tail.repeats;
  group.repeats ??= { did: new Uint32Array(12), known: new Uint32Array(12) };
  for (let bit = 0; bit < 12; bit++) {
    group.repeats.known[bit]! += (known >> bit) & 1;
    group.repeats.did[bit]! += (did >> bit) & 1;
  }
}

function addTally(group: Group, { key, points, evidence: bits = 0, months = [] }: Shown): void {
  const tally = group.tally(key);
  tally.points += points;
  tally.drivers++;
  tally.evidence += bits;
  if (months.length > 0) tally.months = tally.months === undefined ? months : withMonths(tally.months, months);
}

function withMonths(some: readonly Month[] | Set<Month>, more: readonly Month[]): Set<Month> {
  const all = some instanceof Set ? some : new Set(some);
  for (const month of more) all.add(month);
  return all;
}

/** How many closed months a driver has a point in, before or now. */
function closedPoints({ old, now }: DriverLook, { closedUpTo }: ValueRules): number {
  if (closedUpTo === undefined) return 0;
  let [i, j, points] = [0, 0, 0];
  for (;;) {
    const was = i < old.count ? old.month(i) : Infinity;
    const is = j < now.count ? now.month(j) : Infinity;
    const month = Math.min(was, is);
    if (month > closedUpTo || month === Infinity) return points;
    points++;
    if (was === month) i++;
    if (is === month) j++;
  }
}

/** What findings of one kind say already, about the same group or those within it: of two factors the one of more points. */
const explains: Readonly<Partial<Record<FindingKind, readonly FindingKind[]>>> = {
  exchanged: ['zeros', 'factor', 'fewer-readings'],
  factor: ['factor', 'fewer-readings'],
  moved: ['fewer-readings'],
};

function isExplained({ kind }: Sought, { path }: Explained, found: readonly Found[]): boolean {
  return found.some((one) => isAbout(one, path) && explains[one.finding.kind]?.includes(kind) === true);
}

function findingOf(sought: Sought, { path, group, tally }: Explained): Finding {
  const { kind, factor, months, measure } = sought;
  const { found, of } = measure.count(group, tally);
  // A restatement of some months is named by what changed, since nothing else did.
  const isPartly = sought.exact !== undefined && found * 10 < of * 9;
  return {
    kind,
    group: path,
    ...(isPartly
      ? { points: found, of: group.totals.changed, onlyChanged: true }
      : pointsOf(kind, { found, of }, group, tally)),
    ...(factor === undefined ? {} : { factor }),
    ...(months === undefined ? {} : { months }),
    ...(tally.months === undefined ? {} : { inMonths: [...tally.months].sort((a, b) => a - b).map(formatMonth) }),
    examples: [],
  };
}

/** Counts values also where drivers decide: people want to know how many values it is about. */
function pointsOf(
  kind: Finding['kind'],
  { found, of }: { readonly found: number; readonly of: number },
  { totals }: Group,
  { points }: Tally,
): Pick<Finding, 'points' | 'of'> {
  if (kind === 'moved') return { points, of: totals.movable };
  if (kind === 'exchanged') return { points, of: Math.max(points, totals.valued) };
  return { points: found, of };
}
