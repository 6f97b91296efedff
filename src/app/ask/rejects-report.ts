/** The rows that could not be used, and how many more there are of them. */
import { type LocalBuffer, rejectsKept } from '../../core/buffer.ts';
import type { Reject } from '../../core/model.ts';
import { count } from '../../core/text.ts';
import { rejectedRows } from '../report.ts';

export interface RejectsReport {
  /** Rejected rows in all. */
  readonly total: number;
  readonly rejects: readonly (Reject & { readonly source: string; readonly part: string })[];
  /** Parts of which only the first ones are in `rejects`. */
  readonly leftOut: readonly LeftOut[];
}

type Rejecting = Pick<LocalBuffer, 'rejects'>;

interface LeftOut {
  readonly source: string;
  readonly part: string;
  /** Rejected rows in all. */
  readonly rejects: number;
  readonly listed: number;
}

export function rejectsReport(buffer: Rejecting, source?: string): RejectsReport {
  return {
    total: rejectedRows(buffer, source),
    rejects: [...buffer.rejects.all(source)],
    leftOut: leftOutOf(buffer, source),
  };
}

/** Parts with more rejects than are kept. */
export function leftOutOf({ rejects }: Rejecting, source?: string): readonly LeftOut[] {
  // A row that a database collapsed stands for many: only where the list is full is something left out of it.
  const cut = rejects.counts(source).filter(({ kept, total }) => kept >= rejectsKept && total > kept);
  return cut.map(({ source: owner, part, total, kept }) => ({ source: owner, part, rejects: total, listed: kept }));
}

/** As rows of a table, below its header. */
export function rejectsTable({ rejects }: RejectsReport): readonly (readonly string[])[] {
  const rows = rejects.map((one) => [one.source, one.part, String(one.row), one.reason, one.text]);
  return [['source', 'part', 'row', 'reason', 'text'], ...rows];
}

/** For a file that has to say itself what is left out of it: nobody sees what is said beside a download. */
export function leftOutRows({ leftOut }: RejectsReport): readonly (readonly string[])[] {
  return leftOut.map((one) => [one.source, one.part, '', describeLeftOut(one), '']);
}

/** What a person reads of a part with more rejects than are kept. */
export function describeLeftOut({ rejects, listed }: LeftOut): string {
  return `${count(rejects, 'row')} could not be used; only the first ${listed} stand here`;
}
