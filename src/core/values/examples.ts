/** The examples of findings: a third walk, which ends as soon as each has its three. */
import type { Month } from '../model.ts';
import type { PackedPoints } from '../series/packing.ts';
import { LargestChanges } from '../series/largest.ts';
import { formatMonth } from '../time/month.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import { factorRange, isInRange } from './factor-range.ts';
import type { Finding, FindingExample } from './finding.ts';
import { DriverLook, type DriverPairs, commonPoints } from './look.ts';
import type { Found, Sought } from './measures.ts';
import { exactFactor, isSameValue } from './series.ts';

const examplesMax = 3;

/** @returns the findings with their examples: those of closed months are the largest changes, all others the first drivers' newest */
export function examplesOf(pairs: DriverPairs, found: readonly Found[], rules: ValueRules): readonly Finding[] {
  const collectors = found.map((one) => new Collector(one, rules));
  const look = new DriverLook();
  for (const [before, after] of pairs) {
    const open = collectors.filter((collector) => !collector.isFull);
    if (open.length === 0) break;
    const isEqual = before !== undefined && after !== undefined && Buffer.compare(before.points, after.points) === 0;
    const path = isEqual ? [] : (JSON.parse((after ?? before)?.path ?? '[]') as string[]);
    const wanting = isEqual ? [] : open.filter((collector) => collector.covers(path));
    if (wanting.length === 0) continue;
    look.load(before, after);
    for (const collector of wanting) collector.add(look, before, after);
  }
  return collectors.map((collector) => collector.finding());
}

class Collector {
  readonly #found: Found;
  readonly #rules: ValueRules;
  readonly #examples: FindingExample[] = [];
  readonly #largest = new LargestChanges(examplesMax);

  constructor(found: Found, rules: ValueRules) {
    this.#found = found;
    this.#rules = rules;
  }

  get isFull(): boolean {
    return this.#examples.length === examplesMax;
  }

  covers(path: readonly string[]): boolean {
    return this.#found.finding.group.every((element, at) => path[at] === element);
  }

  add(look: DriverLook, before: PackedPoints | undefined, after: PackedPoints | undefined): void {
    const { sought, drivers } = this.#found;
    const { id } = (after ?? before) as PackedPoints;
    if (sought.kind === 'closed') {
      const months = closedMonths(look, this.#rules);
      this.#largest.add({ kind: 'update', id, before, after, created: [], updated: months, deleted: [] });
      return;
    }
    const room = Math.min(examplesMax - this.#examples.length, Math.ceil(examplesMax / drivers));
    const months = monthsShowing(sought, look).slice(-room);
    for (const month of months.reverse()) this.#examples.push(exampleOf(id, month, look));
  }

  finding(): Finding {
    const examples =
      this.#found.sought.kind === 'closed'
        ? this.#largest.shown().map(({ path: _path, ...example }) => example)
        : this.#examples;
    return { ...this.#found.finding, examples };
  }
}

function exampleOf(driver: string, month: Month, { old, now }: DriverLook): FindingExample {
  const [was, is] = [old.indexOf(month), now.indexOf(month)];
  const before = was >= 0 ? old.text(was) : is > 0 ? now.text(is - 1) : undefined;
  return {
    driver,
    month: formatMonth(month),
    ...(before === undefined ? {} : { old: before }),
    ...(is < 0 ? {} : { new: now.text(is) }),
  };
}

/** The months of a driver that show a finding, in order. */
function monthsShowing({ kind, key, ...sought }: Sought, look: DriverLook): Month[] {
  const { old, now, tail } = look;
  const inTail = (isShown: boolean | undefined): Month[] =>
    isShown === true && tail !== undefined ? [tail.month] : [];
  const common = (isShown: (i: number, j: number) => boolean): Month[] =>
    [...commonPoints(old, now)].filter(([i, j]) => !old.isZero(i) && isShown(i, j)).map(([i]) => old.month(i));
  switch (kind) {
    case 'new-scale':
      return inTail(tail?.exponents.includes(sought.exponent ?? 0));
    case 'new-sign':
      return inTail(tail?.isTurned);
    case 'copied':
      return inTail(tail?.repeats?.isRepeated);
    case 'zeros':
      return key === 'zeros' ? common((_i, j) => now.isZero(j)) : inTail(tail?.isZero === true && tail.hasNoZero);
    case 'factor':
      if (sought.exact !== undefined) return common((i, j) => exactFactor(old, i, now, j) === sought.exact);
      return common((i, j) => {
        const range = now.isZero(j) || isSameValue(old, i, now, j) ? undefined : factorRange(old, i, now, j);
        return range !== undefined && isInRange(Number(sought.factor), range);
      });
    case 'moved':
      return look.move?.months === sought.months ? common((i, j) => !isSameValue(old, i, now, j)) : [];
    default:
      return common((i, j) => !isSameValue(old, i, now, j));
  }
}
