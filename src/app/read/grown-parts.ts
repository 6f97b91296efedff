/**
 * Parts that only grew: the rows that were appended are read, and the others are not. That what was read before is still there is
 * shown by evidence at first and proven later, when the agent is idle; what deletes waits for the proof.
 */
import type { Growth, PartRead, ReadPart } from '../../core/buffer.ts';
import type { Part } from '../../core/model.ts';
import type { EarlierRead, GrownPart, Source } from '../../core/ports.ts';
import type { Dependencies } from '../dependencies.ts';

/** When what a part rests on is proven: at once, or when the agent is idle. */
export type ProofTime = 'now' | 'idle';

/** An earlier read of a part, and how the part looks beside it. */
export interface Earlier {
  readonly base: PartRead;
  readonly growth: Growth;
  readonly look: GrownPart;
}

/** The first of these reads of a part that is still there in it. @throws AgentError as `Source.rows` */
export async function earlierRead(
  { buffer }: Pick<Dependencies, 'buffer'>,
  { source, part, reads, proof }: { source: Source; part: Part; reads: readonly PartRead[]; proof: ProofTime },
  signal: AbortSignal,
): Promise<Earlier | undefined> {
  if (source.growing === undefined) return undefined;
  for (const base of reads) {
    const growth = buffer.growths.of(base.id);
    if (growth === undefined) continue;
    const wants = proof === 'now' ? 'proof' : 'evidence';
    const look = await source.growing.look(part, { end: growth, version: base.version, wants }, signal);
    signal.throwIfAborted();
    if (look.state !== 'changed') return { base, growth, look };
  }
  return undefined;
}

/**
 * Whether a read can delete nothing: each accepted part is there as it was, or with rows behind it. Then no delete rests on what a
 * grown part was before.
 */
export function onlyAdds(
  { buffer }: Pick<Dependencies, 'buffer'>,
  accepted: readonly ReadPart[] | undefined,
  present: readonly PartRead[],
): boolean {
  // The first push deletes all that the service has beside it.
  if (accepted === undefined) return false;
  return accepted.every(({ id, kind, name, carried }) => {
    const now = present.find((part) => part.name === name);
    if (now === undefined) return carried;
    return kind === 'part' && (now.id === id || buffer.growths.continues(now.id, id));
  });
}

/** Those of these parts that rest on what was not proven. */
export function unprovenOf({ buffer }: Pick<Dependencies, 'buffer'>, parts: readonly PartRead[]): readonly PartRead[] {
  return parts.filter(({ id }) => buffer.growths.of(id)?.isProven === false);
}

/**
 * Proves what a part rests on. Where it was changed the part is read whole at the next look; that is told.
 * @returns `moved` where the part is another one by now, which its next look is about
 * @throws AgentError as `Source.rows`
 */
export async function prove(
  { buffer, log }: Pick<Dependencies, 'buffer' | 'log'>,
  { source, part, ...more }: { source: Source; part: PartRead } & Pick<EarlierRead, 'proven' | 'pause'>,
  signal: AbortSignal,
): Promise<'proven' | 'changed' | 'moved'> {
  const { id, name, version } = part;
  const growth = buffer.growths.of(id);
  if (growth === undefined || source.growing === undefined) return 'moved';
  const look = await source.growing.look(part, { end: growth, version, wants: 'proof', ...more }, signal);
  signal.throwIfAborted();
  if (look.version !== version) return 'moved';
  if (look.state !== 'changed') {
    buffer.growths.setProven(id);
    return 'proven';
  }
  buffer.growths.disprove(id);
  log.warn('a file that seemed to have only grown was changed above its new rows: it is read again whole', {
    source: part.source,
    part: name,
  });
  return 'changed';
}
