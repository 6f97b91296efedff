/** A held candidate: what it would change, so that a person can decide. */
import { AgentError } from '../../core/errors.ts';
import type { SourceReport } from '../../core/report.ts';
import { LargestChanges, type PointChange } from '../../core/series/largest.ts';
import type { Dependencies } from '../dependencies.ts';
import { eachChange } from './pace.ts';
import { standingSources } from './standing-sources.ts';
import type { HeldReport } from './status-report.ts';

export interface HeldDetail extends HeldReport {
  /** As the last pass left it; `undefined` for a first push that waits, and for what was held since. */
  readonly report: SourceReport | undefined;
  /** The largest changes of approving it, against the accepted read. */
  readonly largest: readonly PointChange[];
  readonly changedPoints: number;
}

const largestMax = 50;

/** @throws AgentError `usage` where nothing of that source is held */
export async function heldDetail(deps: Dependencies, source: string): Promise<HeldDetail> {
  const { ledger, buffer } = deps;
  const held = (await ledger.holds.held()).find((one) => one.source === source);
  if (held === undefined) {
    throw new AgentError('usage', `nothing of "${source}" is held`, { hint: 'it may have been approved, or mended' });
  }
  const { sinceMs, ...rest } = held;
  const report = standingSources(deps, await ledger.state()).find(({ name }) => name === source);
  const largest = new LargestChanges(largestMax);
  await eachChange(buffer.reads.drivers(source, 'accepted'), buffer.reads.drivers(source, 'candidate'), (change) =>
    largest.add(change),
  );
  const changes = { largest: largest.shown(), changedPoints: largest.count };
  return { ...rest, since: new Date(sinceMs).toISOString(), report, ...changes };
}
