/** Reads the sources of a pass. What `forget` asked for is known once it is seen which parts are gone. */
import type { Dependencies } from './dependencies.ts';
import { beginForgetting } from './prepare/forget.ts';
import { assembleCandidates } from './read/candidate.ts';
import { type ReadOptions, lookAtAll } from './read/look-at-all.ts';
import type { SourceLook, SourceRead } from './read/read-source.ts';
import type { PartsToForget } from './review/forgotten.ts';

export interface SourcesRead {
  readonly reads: readonly SourceRead[];
  /** Parts that the candidates lack, since somebody forgot them. */
  readonly forgotten: PartsToForget;
}

/** Reads every source and puts the candidates together. */
export async function readSources(deps: Dependencies, how: ReadOptions, signal: AbortSignal): Promise<SourcesRead> {
  return withoutForgotten(deps, await lookAtAll(deps, how, signal));
}

/** The candidates of what was seen, without what was forgotten. */
export async function withoutForgotten(deps: Dependencies, looks: readonly SourceLook[]): Promise<SourcesRead> {
  const forgotten = await beginForgetting(deps, looks);
  return { reads: assembleCandidates(deps, looks, forgotten.names), forgotten };
}
