/** The decision about each source of a pass. It is a value: `carry-out.ts` alone acts on it. */
import type { Hold } from '../../core/guard/guard.ts';
import type { Beginning } from '../../core/series/beginning.ts';
import type { Comparison } from '../../core/series/compare.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { Approval, ApprovalScope } from '../../core/ledger.ts';
import type { ReadBy } from '../read/read-by.ts';
import type { ValueFindings } from './values.ts';

/** What was found out about a candidate before its approval is looked for. */
export interface Facts {
  readonly source: string;
  readonly settings: SourceSettings;
  readonly comparison: Comparison;
  readonly beginning: Beginning | undefined;
  /** The source was never accepted, and takes nothing over from one that left the config. */
  readonly isFirst: boolean;
  /** Sources that left the config and have drivers of this candidate. */
  readonly inheritedFrom: readonly string[];
  /** Its parts that it is judged without. */
  readonly forgotten: ReadonlySet<string> | undefined;
  readonly values: ValueFindings;
  /** See `Source.mayLag`. */
  readonly mayLag: boolean;
  /** See `WholeLook.goneFiles`. */
  readonly goneFiles: readonly string[];
  readonly readBy: () => ReadBy;
}

/** A candidate with all that was found out about it. */
export interface Reviewed extends Facts {
  /** What an approval of this candidate lets pass. */
  readonly scope: ApprovalScope;
  /** What waits for a read of this source. */
  readonly approval: Approval | undefined;
  /** The approval lets all pass that this candidate does. */
  readonly isCovered: boolean;
}

export interface Accepting extends Reviewed {
  readonly kind: 'accept';
  /** It would be held without its approval, or deletes what was approved. */
  readonly isApproved: boolean;
}

export interface Holding extends Reviewed, Hold {
  readonly kind: 'hold';
  /** False where another source has its drivers: no approval helps. */
  readonly approvable: boolean;
  /** The source that has its drivers, where that holds it. */
  readonly conflictsWith?: string;
  /** Why its approval is dropped; `undefined`: it stays pending, since only another held source keeps it from being used. */
  readonly whyDropped: string | undefined;
}

export type CandidateDecision = Accepting | Holding;

export type Decision =
  | { readonly kind: 'unread'; readonly source: string; readonly reason: string; readonly hint: string | undefined }
  | { readonly kind: 'unchanged'; readonly source: string }
  | CandidateDecision;
