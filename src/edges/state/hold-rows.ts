/** Rows of held candidates and approvals, as SQLite and PostgreSQL give them. */
import type {
  Approval,
  ApprovalScope,
  DeletedPoints,
  HeldCandidate,
  LetThrough,
  OtherReads,
  ReadCounts,
} from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import { packMonths, unpackMonths } from '../../core/series/packing.ts';
import { parseDeletes, parseFindings, parseTexts } from './kept-json.ts';

export type HeldRow = Omit<HeldCandidate, 'approvable' | 'hint'> & { approvable: number; hint: string | null };
export type ApprovalRow = { [key in keyof Approval]: Exclude<Approval[key], undefined> | null };

interface ScopeRow {
  readonly deletes: Uint8Array;
  readonly carried: string;
  readonly isEnd: number;
  readonly findings: string;
}

export function heldCandidate(row: HeldRow): HeldCandidate {
  return { ...row, hint: row.hint ?? undefined, approvable: row.approvable === 1 };
}

export function approvalOf(row: ApprovalRow): Approval {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as Approval;
}

/** Columns `deletes`, `carried`, `is_end`, `findings`. */
export function packedScope({ deletes, moved, carried, isEnd, findings }: ApprovalScope): readonly unknown[] {
  return [packDeletes(deletes, moved), JSON.stringify(carried), Number(isEnd), JSON.stringify(findings)];
}

export const noScope: ApprovalScope = { deletes: new Map(), moved: new Map(), carried: [], isEnd: false, findings: [] };

export function scopeOf(row: ScopeRow): ApprovalScope {
  return {
    ...unpackDeletes(row.deletes),
    carried: parseTexts(row.carried),
    isEnd: row.isEnd === 1,
    findings: parseFindings(row.findings),
  };
}

/** Those of every buffer, at any time. */
export const allReads: OtherReads = { own: '', untilMs: Number.MAX_SAFE_INTEGER };

/** What one read deleted, and what there was before. */
export type DeletesRow = ReadCounts & { readonly hadDrivers: number; readonly hadPoints: number };

/** @param rows oldest first */
export function sumOfDeletes(rows: readonly DeletesRow[]): LetThrough {
  const sum = (of: (row: ReadCounts) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const [first] = rows;
  return {
    drivers: sum((row) => row.drivers),
    points: sum((row) => row.points),
    had: first && { drivers: first.hadDrivers, points: first.hadPoints },
  };
}

/** A driver, its deleted months and those of them that moved; an older agent wrote only the first two. */
function packDeletes(deletes: DeletedPoints, moved: DeletedPoints | undefined): Uint8Array {
  const packed = (months: readonly Month[] | undefined): string =>
    months === undefined ? '' : Buffer.from(packMonths(months)).toString('base64');
  const list = [...deletes].map(([id, months]) =>
    moved === undefined ? [id, packed(months)] : [id, packed(months), packed(moved.get(id))],
  );
  return Buffer.from(JSON.stringify(list));
}

function unpackDeletes(blob: Uint8Array): Pick<ApprovalScope, 'deletes' | 'moved'> {
  const list = parseDeletes(Buffer.from(blob).toString());
  const unpacked = (months: string): readonly Month[] => unpackMonths(Buffer.from(months, 'base64'));
  const deletes = new Map(list.map(([id, months]) => [id, unpacked(months)]));
  const moved = new Map<string, readonly Month[]>();
  for (const [id, , months] of list) {
    if (months === undefined) return { deletes, moved: undefined };
    if (months !== '') moved.set(id, unpacked(months));
  }
  return { deletes, moved };
}
