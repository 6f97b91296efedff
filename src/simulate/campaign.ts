/** Many histories, one seed each, and what they reached. */
import { createHash } from 'node:crypto';
import { drawHistory } from './history/draw.ts';
import { type Played, play } from './history/play.ts';
import type { Stage } from './world/world.ts';

export const eventsMax = 12;

export interface Seeds {
  readonly from: number;
  readonly count: number;
}

/** What a run of seeds came to. Ranges that follow each other add up to the same as one range. */
export interface Ranged {
  readonly steps: number;
  /** One for each history, 16 hex digits. */
  readonly digests: readonly string[];
  readonly marks: ReadonlyMap<string, number>;
  /** The first seed in which a promise was broken: nothing after it was played. */
  readonly failed?: { readonly seed: number; readonly played: Played } | undefined;
}

/** What a seed is played as. */
export type PlaySeed = (stage: Stage, seed: number) => Promise<Played>;

const playHistory: PlaySeed = (stage, seed) => play(stage, drawHistory(stage, seed, eventsMax));

/**
 * @param progress is told after each history how many were played
 * @param playSeed default: as a history of one agent
 */
export async function playSeeds(
  stage: Stage,
  seeds: Seeds,
  progress: (done: number) => void,
  playSeed: PlaySeed = playHistory,
): Promise<Ranged> {
  // Nobody reads where the failures of a history come from: whoever wants to, plays it alone.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await playRange(seeds, progress, (seed) => playSeed(stage, seed));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function playRange(
  { from, count }: Seeds,
  progress: (done: number) => void,
  playSeed: (seed: number) => Promise<Played>,
): Promise<Ranged> {
  const digests: string[] = [];
  const marks = new Map<string, number>();
  let steps = 0;
  for (let seed = from; seed < from + count; seed++) {
    const played = await playSeed(seed);
    steps += played.steps;
    digests.push(played.digest);
    for (const [mark, times] of played.marks) marks.set(mark, (marks.get(mark) ?? 0) + times);
    if (played.violation !== undefined) return { steps, digests, marks, failed: { seed, played } };
    progress(digests.length);
  }
  return { steps, digests, marks };
}

/** sha256 (hex) over all that was observed in all histories, in the order of seeds. */
export function digestOf(digests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const digest of digests) hash.update(digest);
  return hash.digest('hex');
}
