/** Reads the sources of a pass, and does what `forget` asked for once it is known which parts are gone. */
import type { Dependencies } from './dependencies.ts';
import { forgetRequested } from './prepare/forget.ts';
import { assembleCandidates } from './read/candidate.ts';
import { type ReadOptions, lookAtAll } from './read/read-all.ts';
import type { SourceRead } from './read/read-source.ts';

/** Reads every source and puts the candidates together, without what was forgotten. */
export async function readSources(deps: Dependencies, how: ReadOptions, signal: AbortSignal): Promise<SourceRead[]> {
  const looks = await lookAtAll(deps, how, signal);
  await forgetRequested(deps, looks);
  return assembleCandidates(deps, looks);
}
