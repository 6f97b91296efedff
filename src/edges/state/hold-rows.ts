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
import { packMonths, unpackMonths } from '../../core/series/packing.ts';
import { parseFindings, parsePairs, parseTexts } from './kept-json.ts';

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
export function packedScope({ deletes, carried, isEnd, findings }: ApprovalScope): readonly unknown[] {
  return [packDeletes(deletes), JSON.stringify(carried), Number(isEnd), JSON.stringify(findings)];
}

export const noScope: ApprovalScope = { deletes: new Map(), carried: [], isEnd: false, findings: [] };

export function scopeOf(row: ScopeRow): ApprovalScope {
  return {
    deletes: unpackDeletes(row.deletes),
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

function packDeletes(deletes: DeletedPoints): Uint8Array {
  const list = [...deletes].map(([id, months]) => [id, Buffer.from(packMonths(months)).toString('base64')]);
  return Buffer.from(JSON.stringify(list));
}

function unpackDeletes(blob: Uint8Array): DeletedPoints {
  const list = parsePairs(Buffer.from(blob).toString());
  return new Map(list.map(([id, months]) => [id, unpackMonths(Buffer.from(months, 'base64'))]));
}
