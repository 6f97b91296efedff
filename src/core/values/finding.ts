/** What the value guard finds: a slip in the values of a read, its place and its size. */

export type FindingKind =
  | 'factor'
  | 'new-scale'
  | 'new-sign'
  | 'moved'
  | 'exchanged'
  | 'copied'
  | 'zeros'
  /** Points are made of fewer readings than before: it counts readings, and not points. */
  | 'fewer-readings'
  /** A point of a closed month changes: a rule of the user, and not a guess. */
  | 'closed';

export interface Finding {
  readonly kind: FindingKind;
  /** Path elements from the top: `[]` is the whole source, a driver's own path is that driver alone. */
  readonly group: readonly string[];
  /** The part that it is about alone. */
  readonly part?: string;
  /** How many points show it. */
  readonly points: number;
  /** How many points of the group could have shown it. */
  readonly of: number;
  /** Only points that changed are counted: the others of the group stayed as they were. */
  readonly onlyChanged?: boolean;
  /** What the values are multiplied by, as decimal text. */
  readonly factor?: string;
  /** By how many months the values moved; negative: to earlier months. */
  readonly months?: number;
  /** The months that it is about, such as `2026-03`, where it is not about all of them. */
  readonly inMonths?: readonly string[];
  /** The path of the driver that the values are exchanged with. */
  readonly with?: readonly string[];
  /** At most three. */
  readonly examples: readonly FindingExample[];
}

/** With what it reaches, as `reach.ts` notes it. `undefined`: an older agent recorded it. */
export interface ReachingFinding extends Finding {
  readonly reach?: readonly string[] | undefined;
}

export interface FindingExample {
  readonly driver: string;
  readonly month: string;
  /** The accepted value; of a month that is new, the value of the month before. */
  readonly old?: string;
  readonly new?: string;
}

/** What was found and not approved: another slip, or one in other drivers, groups or months, or in more points. */
export function notCovered(
  found: readonly ReachingFinding[],
  approved: readonly ReachingFinding[],
): readonly ReachingFinding[] {
  const left = approved.map((one) => ({ one, points: one.points, reach: new Set(one.reach) }));
  return found.filter((finding) => {
    const at = left.find(
      ({ one, points, reach }) => finding.points <= points && covers(one, finding) && isReached(finding, reach),
    );
    if (at !== undefined) at.points -= finding.points;
    return at === undefined;
  });
}

function isReached({ reach }: ReachingFinding, approved: ReadonlySet<string>): boolean {
  return reach?.every((one) => approved.has(one)) === true;
}

function covers(approved: Finding, { kind, group, part, factor, months, inMonths, with: other }: Finding): boolean {
  if (approved.kind !== kind || approved.part !== part || approved.months !== months || !isSameFactor(approved, factor))
    return false;
  if (!isWithin(group, approved.group) || !coversExchange(approved, other)) return false;
  // What lies in the new months alone is another slip than one in all months.
  if (approved.inMonths === undefined || inMonths === undefined) return approved.inMonths === inMonths;
  return inMonths.every((month) => approved.inMonths?.includes(month) === true);
}

/** A factor that is no power of ten is named as closely as the values tell, which differs from read to read. */
const factorTolerance = 0.001;

function isSameFactor({ factor: approved }: Finding, factor: string | undefined): boolean {
  if (approved === factor) return true;
  if (approved === undefined || factor === undefined || isPowerOfTen(approved) || isPowerOfTen(factor)) return false;
  return Math.abs(Number(factor) / Number(approved) - 1) <= factorTolerance;
}

/** Whether a factor is a power of ten or the negative of one. */
export function isPowerOfTen(factor: string): boolean {
  return /^-?(?:10*|0\.0*1)$/.test(factor);
}

/** Whoever approved that drivers of a group changed places has approved it for each pair of them. */
function coversExchange(approved: Finding, other: readonly string[] | undefined): boolean {
  if (JSON.stringify(approved.with) === JSON.stringify(other)) return true;
  return approved.with === undefined && other !== undefined && isWithin(other, approved.group);
}

/** Whether a path is that of a group or lies below it. */
export function isWithin(path: readonly string[], group: readonly string[]): boolean {
  return group.every((element, at) => path[at] === element);
}
