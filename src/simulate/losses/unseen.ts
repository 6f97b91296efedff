/** How long a hold lasts that nobody looks for: what the agent waits for is a person, and pushes go on beside it. */
import { dataEvents } from '../history/data-events.ts';
import { Entropy } from '../entropy.ts';
import { Journal } from '../journal.ts';
import { type Stage, World } from '../world/world.ts';

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

/** `undefined`: no hold was seen that lasts. */
export async function unseenHold(stage: Stage, fromSeed: number): Promise<UnseenHold | undefined> {
  for (let seed = fromSeed; seed < fromSeed + seedsMax; seed++) {
    const found = await holdIn(stage, seed);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function holdIn(stage: Stage, seed: number): Promise<UnseenHold | undefined> {
  let heldMs: number | undefined;
  let pushes = 0;
  const world = new World(stage, seed, {
    journal: new Journal(false),
    watcher: {
      begun: () => undefined,
      landed: () => void pushes++,
      passed({ sources }) {
        if (sources.some(({ state }) => state === 'held')) heldMs ??= world.clock.monotonicMs();
      },
    },
  });
  try {
    for (const owner of world.owners) owner.export();
    await world.process.start();
    await world.advance(26 * hourMs);
    if (pushes === 0 || heldMs !== undefined) return undefined;
    const fromMs = world.clock.monotonicMs();
    const entropy = new Entropy(seed);
    dataEvents.half?.(entropy.pick(world.owners, 'source'), entropy);
    pushes = 0;
    await world.advance(days * 24 * hourMs);
    const held = world.lastReport?.sources.find(({ state }) => state === 'held');
    if (held === undefined || heldMs === undefined) return undefined;
    return { source: held.name, reason: held.reason ?? '', heldAfterMs: heldMs - fromMs, days, pushes };
  } finally {
    world.process.plug.pull();
  }
}
