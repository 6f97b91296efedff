/** What a pass says of a source. */
import type { DriverDeletes } from '../../core/report.ts';
import type { Finding } from '../../core/values/finding.ts';
import type { Changes, RenamedId } from '../../core/series/diff.ts';

/** What became of one source in a pass. */
export interface Verdict {
  readonly source: string;
  readonly state: 'accepted' | 'unchanged' | 'held' | 'unread';
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** For a held candidate: what `approve` wants. */
  readonly digest?: string | undefined;
  /** Slips in the candidate's values, also where they hold nothing up. */
  readonly findings?: readonly Finding[] | undefined;
  /** Slips that do not hold the candidate, in words. */
  readonly warnings?: readonly string[] | undefined;
  /** From the accepted read to the candidate. */
  readonly changes: Changes;
  /** For a held candidate: what it would delete, the first hundred drivers. */
  readonly deletes?: readonly DriverDeletes[] | undefined;
  /** For a held candidate: false where no approval helps. */
  readonly approvable?: boolean | undefined;
  /** For a held candidate: the source that has its drivers, where that holds it. */
  readonly conflictsWith?: string | undefined;
  /** For a held candidate: ids that it changes under the same path. */
  readonly renamed?: readonly RenamedId[] | undefined;
}
