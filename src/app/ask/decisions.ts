/** What people decided: approvals, rollbacks and what was forgotten, with who and why. */
import type { Decided, Ledger } from '../../core/ledger.ts';

/** What somebody decided: an approval, a rollback, or what is carried being forgotten. */
export interface Decision extends Decided {
  readonly kind: 'approval' | 'rollback' | 'forget';
  readonly at: string;
  /** For an approval or a forget. */
  readonly source?: string | undefined;
  readonly digest?: string | undefined;
  readonly part?: string | undefined;
  /** For a rollback: the push that it goes back to. */
  readonly push?: number | undefined;
  /** `pending`, `used` or `dropped` for an approval; `pending`, `done`, `not needed` or the outcome of its push for a request. */
  readonly state: string;
  readonly why?: string | undefined;
}

/** `approve 3f9a1c2b77aa of revenue` */
export function whatOf({ kind, source, digest, part, push }: Decision): string {
  switch (kind) {
    case 'approval':
      return `approve ${digest?.slice(0, 12)} of ${source}`;
    case 'rollback':
      return `roll back to push ${push}`;
    case 'forget':
      return part === undefined ? `forget ${source}` : `forget ${part} of ${source}`;
  }
}

/** Newest first. */
export async function allDecisions({ holds, requests }: Ledger): Promise<readonly Decision[]> {
  const approvals = (await holds.approvals()).map(({ id: _id, atMs, ...approval }): Decision => {
    return { kind: 'approval', at: new Date(atMs).toISOString(), ...approval };
  });
  const asked = (await requests.all()).map(({ atMs, request, result, by, as, reason }): Decision => {
    const { kind } = request;
    const about = kind === 'forget' ? { source: request.source, part: request.part } : { push: request.push };
    return { kind, at: new Date(atMs).toISOString(), ...about, ...outcomeOf(result), by, as, reason };
  });
  return [...approvals, ...asked].sort((a, b) => (a.at < b.at ? 1 : -1));
}

/** What a request came to: `done`, or JSON with the outcome of its push, or why nothing was left to do. */
function outcomeOf(result: string | undefined): { state: string; why?: string | undefined } {
  if (result === undefined) return { state: 'pending' };
  if (!result.startsWith('{')) return { state: result };
  const { outcome, reason } = JSON.parse(result) as { outcome: string; reason?: string };
  return { state: outcome, why: reason };
}
