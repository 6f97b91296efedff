/** Looks at all sources of a pass, side by side. */
import type { SourceSettings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ProofTime } from './grown-parts.ts';
import { redate } from './revised-at.ts';
import { type SourceLook, readSource } from './read-source.ts';
import { recallSeen } from './seen-before.ts';

/** Which sources a pass reads: cheap ones always, expensive ones when they are due. The others stand as they were read last. */
export interface DueSources {
  /** The last read of a source that is not due. */
  standing(source: string): SourceLook | undefined;
  note(look: SourceLook): void;
  /** Forgets all reads: the buffer is new, and they are not in it. */
  forget(): void;
}

export interface ReadOptions {
  readonly due?: DueSources | undefined;
  /** When it is proven that a file that grew still holds what was read of it. Default: at once. */
  readonly proof?: ProofTime | undefined;
}

/** Reads what changed in every source. Where one read ends the pass, the others come to their end first. */
export async function lookAtAll(deps: Dependencies, how: ReadOptions, signal: AbortSignal): Promise<SourceLook[]> {
  const { sources } = deps.settings;
  await recallSeen(deps, signal);
  // Reads that stand have the times from before.
  if (redate(deps.buffer.parts, deps.clock.now().getTime())) how.due?.forget();
  const ended = await Promise.allSettled(sources.map((source) => readDue(deps, source, how, signal)));
  return ended.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}

async function readDue(
  deps: Dependencies,
  settings: SourceSettings,
  { due, proof }: ReadOptions,
  signal: AbortSignal,
): Promise<SourceLook> {
  const before = due?.standing(settings.name);
  if (before !== undefined) return before;
  const look = await readSource(deps, settings, signal, proof);
  due?.note(look);
  return look;
}
