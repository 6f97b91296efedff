/** How long a hold lasts that nobody looks for: what the agent waits for is a person, and pushes go on beside it. */
import type { Clock } from '../../core/ports.ts';
import { firstEventMs, play } from '../history/play.ts';
import type { Stage } from '../world/world.ts';
import { stageForLoss } from './find-loss.ts';

export interface UnseenHold {
  readonly source: string;
  readonly reason: string;
  /** From the export to the pass that held it. */
  readonly heldAfterMs: number;
  /** How long it was watched, and still held at the end. */
  readonly days: number;
  /** Pushes that were acknowledged meanwhile, without what is new in the source. */
  readonly pushes: number;
}

const hourMs = 3_600_000;
const days = 30;
const seedsMax = 40;
/** When an export ends half way: by then all has been pushed once. */
const halfMs = firstEventMs + 26 * hourMs;

/** `undefined`: no hold was seen that lasts. */
export async function unseenHold(stage: Stage, fromSeed: number): Promise<UnseenHold | undefined> {
  const allowed = stageForLoss(stage, {});
  for (let seed = fromSeed; seed < fromSeed + seedsMax; seed++) {
    const found = await holdIn(allowed, seed);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function holdIn(stage: Stage, seed: number): Promise<UnseenHold | undefined> {
  const pushes = { before: 0, after: 0 };
  let clock: Pick<Clock, 'monotonicMs'> | undefined;
  let heldMs: number | undefined;
  let seen: UnseenHold | undefined;
  const history = { seed, events: [{ kind: 'half', gapMs: halfMs - firstEventMs, draw: seed } as const] };
  const { violation } = await play(stage, history, {
    watcher: {
      begun: (world) => void ({ clock } = world),
      landed: (world) => void pushes[world.clock.monotonicMs() < halfMs ? 'before' : 'after']++,
      passed({ sources }) {
        if (sources.some(({ state }) => state === 'held')) heldMs ??= clock?.monotonicMs();
      },
    },
    endsAfterMs: days * 24 * hourMs,
    ended({ lastReport }) {
      const held = lastReport?.sources.find(({ state }) => state === 'held');
      if (held === undefined || heldMs === undefined || heldMs < halfMs || pushes.before === 0) return;
      const { name: source, reason = '' } = held;
      seen = { source, reason, heldAfterMs: heldMs - halfMs, days, pushes: pushes.after };
    },
  });
  // A broken promise is for the campaign to find and to tell.
  return violation === undefined ? seen : undefined;
}
