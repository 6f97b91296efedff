/** What the value guard finds: a slip in the values of a read, its place and its size. */

export type FindingKind =
  | 'factor'
  | 'new-scale'
  | 'new-sign'
  | 'moved'
  | 'exchanged'
  | 'copied'
  | 'zeros'
  /** A point of a closed month changes: a rule of the user, and not a guess. */
  | 'closed';

export interface Finding {
  readonly kind: FindingKind;
  /** Path elements from the top: `[]` is the whole source, a driver's own path is that driver alone. */
  readonly group: readonly string[];
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

export interface FindingExample {
  readonly driver: string;
  readonly month: string;
  /** The accepted value; of a month that is new, the value of the month before. */
  readonly old?: string;
  readonly new?: string;
}

/** Whether what was approved covers a finding: the same slip, in no other group or month, and in no more points. */
export function covers(
  approved: Finding,
  { kind, group, points, factor, months, inMonths, with: other }: Finding,
): boolean {
  if (approved.kind !== kind || approved.factor !== factor || approved.months !== months) return false;
  if (JSON.stringify(approved.with) !== JSON.stringify(other)) return false;
  if (approved.group.some((element, at) => group[at] !== element)) return false;
  return points <= approved.points && (inMonths ?? []).every((month) => approved.inMonths?.includes(month) === true);
}
