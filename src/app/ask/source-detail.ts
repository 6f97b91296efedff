/** One source as it stands: what its last pass came to, and the parts that it is made of. */
import { AgentError } from '../../core/errors.ts';
import { namesHint } from '../../core/nearest.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { standingSources } from './standing-sources.ts';

export interface SourceDetail extends SourceReport {
  /** Of the accepted read; of a held one there are those of its candidate too. */
  readonly partsRead: readonly PartDetail[];
}

export interface PartDetail {
  readonly name: string;
  /** `history`: months carried from an older read; `snapshot`: taken from an acknowledged snapshot. */
  readonly kind: 'part' | 'history' | 'snapshot';
  readonly read: 'accepted' | 'candidate';
  readonly rows: number;
  readonly rejects: number;
  /** When its content was last revised, ISO 8601. */
  readonly revisedAt: string;
  /** The source does not show it any more. */
  readonly carried: boolean;
}

/** @throws AgentError `usage` for a source that is not there */
export async function sourceDetail(deps: Dependencies, name: string): Promise<SourceDetail> {
  const sources = standingSources(deps, await deps.ledger.state());
  const report = sources.find((source) => source.name === name);
  if (report === undefined) {
    const known = sources.map((source) => source.name);
    throw new AgentError('usage', `the last pass had no source "${name}"`, { hint: namesHint(name, known) });
  }
  const accepted = partsOf(deps, name, 'accepted');
  const ids = new Set(accepted.map(({ id }) => id));
  // Parts that both reads share are listed once.
  const candidate = partsOf(deps, name, 'candidate').filter(({ id }) => !ids.has(id));
  return { ...report, partsRead: [...accepted, ...candidate].map(({ id: _id, ...part }) => part) };
}

function partsOf(
  { buffer }: Dependencies,
  source: string,
  read: PartDetail['read'],
): readonly (PartDetail & { readonly id: number })[] {
  return (buffer.reads.parts(source, read) ?? []).map(({ id, name, kind, rows, rejects, revisedAtMs, carried }) => {
    return { id, name, kind, read, rows, rejects, revisedAt: new Date(revisedAtMs).toISOString(), carried };
  });
}
