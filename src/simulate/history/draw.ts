/** Draws a history by swarm: each seed has some kinds of events and not others, and its own rates and gaps. */
import { Entropy } from '../entropy.ts';
import type { Stage } from '../world/world.ts';
import { type History, type HistoryEvent, askedKinds, eventKinds, movingKinds, plainKinds } from './events.ts';

const minuteMs = 60_000;
/** Gaps between events, from moments to days: each history has one of these as its usual one. */
const gapsMs = [2000, 5 * minuteMs, 60 * minuteMs, 9 * 60 * minuteMs];

export function drawHistory({ families }: Pick<Stage, 'families'>, seed: number, eventsMax: number): History {
  const canMove = [...families.values()].some(({ members }) => members > 1);
  const entropy = new Entropy(seed);
  const share = 0.1 + 0.5 * entropy.of('share');
  const kinds = eventKinds.filter((kind) => {
    if (plainKinds.includes(kind)) return true;
    const isMoving = movingKinds.includes(kind);
    if (isMoving && !canMove) return false;
    return entropy.isIn(isMoving || askedKinds.includes(kind) ? 2 * share : share, 'kind', kind);
  });
  const weights = kinds.map((kind) => 0.2 + entropy.of('weight', kind));
  const usualMs = entropy.pick(gapsMs, 'gap');
  const count = entropy.between(3, eventsMax, 'events');
  const events = Array.from({ length: count }, (_, at): HistoryEvent => {
    const isUsual = entropy.isIn(0.7, 'usual', at);
    const gapMs = isUsual ? usualMs : entropy.pick(gapsMs, 'other gap', at);
    return {
      kind: weighted(kinds, weights, entropy.of('event', at)),
      gapMs: Math.floor(gapMs * (0.5 + entropy.of('length', at))),
      draw: entropy.between(0, 2 ** 31, 'draw', at),
    };
  });
  return { seed, events };
}

/** @param drawn at least 0 and less than 1 */
export function weighted<Kind>(kinds: readonly Kind[], weights: readonly number[], drawn: number): Kind {
  let left = drawn * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [at, kind] of kinds.entries()) {
    left -= weights[at] as number;
    if (left <= 0) return kind;
  }
  return kinds[0] as Kind;
}
