/** What a ledger in memory holds. It outlives a process of the simulated agent. */
import type {
  Approval,
  ApprovalScope,
  Asked,
  HeldCandidate,
  LedgerState,
  PushRecord,
  ReadCounts,
} from '../../core/ledger.ts';

export interface Deletion extends ReadCounts {
  readonly source: string;
  readonly read: string;
  readonly atMs: number;
  readonly had: ReadCounts;
}

export class Records {
  readonly pushes: PushRecord[] = [];
  /** By driver, in the order of pushes. */
  readonly changes = new Map<string, { readonly push: number; readonly months: Uint8Array }[]>();
  readonly held = new Map<string, { readonly candidate: HeldCandidate; readonly scope: ApprovalScope }>();
  readonly approvals: { approval: Approval; readonly scope: ApprovalScope }[] = [];
  deletions: Deletion[] = [];
  readonly requests: Asked[] = [];
  readonly snapshots = new Map<string, string>();
  state: LedgerState = {};
  /** Records that the chain of a real ledger would have. */
  noted = 0;

  /** Changes what is given and leaves the rest; `undefined` forgets, at any depth, as in a record that is kept as JSON. */
  setState(changed: LedgerState): void {
    const state: Record<string, unknown> = { ...this.state };
    for (const [key, value] of Object.entries(changed)) {
      if (value === undefined) delete state[key];
      else state[key] = plain(value as unknown);
    }
    this.state = state;
  }
}

/** Without what is `undefined`. */
function plain<T>(value: T): T {
  if (Array.isArray(value)) return value.map(plain) as T;
  if (typeof value !== 'object' || value === null) return value;
  const made: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) if (one !== undefined) made[key] = plain(one as unknown);
  return made as T;
}
