/** Looks for a short history of a config in which one of its settings loses something, and that ends well with what is usual instead. */
import { Entropy } from '../entropy.ts';
import type { History, HistoryEvent } from '../history/events.ts';
import { type Played, play } from '../history/play.ts';
import { stageWith, withFirstPush, withSources } from '../stage.ts';
import type { LooseSetting } from '../warnings.ts';
import type { Stage } from '../world/world.ts';
import { type Loss, LossWatch } from './loss-watch.ts';

/** A loss as it happened, and what would have stopped it. */
export interface ShownLoss extends Loss {
  readonly seed: number;
  readonly history: History;
  readonly played: Played;
  /** What the agent says where the setting is the usual one. */
  readonly stoppedBy: string | undefined;
}

/** How many are looked through for each setting. */
export const lossSeedsMax = 80;
const eventsMax = 4;
const minuteMs = 60_000;

/** `undefined`: none of so many histories showed it. */
export async function findLoss(user: Stage, loose: LooseSetting, fromSeed: number): Promise<ShownLoss | undefined> {
  const stage = stageForLoss(user, loose);
  const tight = stageWith(stage, loose.tighten(stage.settings));
  for (let seed = fromSeed; seed < fromSeed + lossSeedsMax; seed++) {
    const history = drawLossy(seed, loose);
    if ((await lossIn({ stage, tight, loose }, history)) === undefined) continue;
    const short = await shorter({ stage, tight, loose }, history);
    return lossIn({ stage, tight, loose }, short);
  }
  return undefined;
}

/** So many sources show it as well as hundreds. */
const sourcesMax = 8;

/** The sources that a setting is about, some others beside them, and a first push that was approved. */
export function stageForLoss(user: Stage, { sources = [] }: Pick<LooseSetting, 'sources'>): Stage {
  const all = user.settings.sources.map(({ name }) => name);
  const few = [...new Set([...sources, ...all])].slice(0, sourcesMax);
  return withSources(withFirstPush(user), new Set(few));
}

/** Few events, and only such as may show it. */
function drawLossy(seed: number, { kinds }: LooseSetting): History {
  if (kinds.length === 0) return { seed, events: [] };
  const entropy = new Entropy(seed);
  const events = Array.from({ length: entropy.between(1, eventsMax, 'events') }, (_, at): HistoryEvent => ({
    kind: entropy.pick(kinds, 'kind', at),
    gapMs: entropy.between(10, 600, 'gap', at) * minuteMs,
    draw: entropy.between(0, 2 ** 31, 'draw', at),
  }));
  return { seed, events };
}

interface Compared {
  readonly stage: Stage;
  readonly tight: Stage;
  readonly loose: LooseSetting;
}

async function lossIn({ stage, tight, loose }: Compared, history: History): Promise<ShownLoss | undefined> {
  const found = await watchLoss(stage, loose, history);
  if (found.loss === undefined || found.played.violation !== undefined) return undefined;
  const usual = await watchLoss(tight, loose, history);
  if (usual.loss !== undefined || usual.played.violation !== undefined) return undefined;
  // What deletes is the push: where none was made, nothing is shown.
  const isAtEnd = loose.counts === 'left' || loose.counts === 'short';
  if (isAtEnd && usual.pushes === 0) return undefined;
  const [stoppedBy] = isAtEnd ? [] : [...usual.stops].filter((stop) => !found.stops.has(stop));
  return { ...found.loss, seed: history.seed, history, played: found.played, stoppedBy };
}

interface WatchedLoss {
  readonly loss: Loss | undefined;
  readonly played: Played;
  readonly stops: ReadonlySet<string>;
  /** How many bodies the service took. */
  readonly pushes: number;
}

/** Plays a history and says what was lost in it. */
export async function watchLoss(
  stage: Stage,
  { counts, tighten }: Pick<LooseSetting, 'counts' | 'tighten'>,
  history: History,
): Promise<WatchedLoss> {
  const watcher = new LossWatch(tighten(stage.settings), { hasOthers: counts === 'others' });
  const isAtEnd = counts === 'left' || counts === 'short';
  let atEnd: Loss | undefined;
  const played = await play(stage, history, {
    isKept: true,
    watcher,
    ended: (world) => {
      if (isAtEnd) atEnd = watcher[counts](world);
    },
  });
  const [first] = watcher.losses;
  return { loss: isAtEnd ? atEnd : first, played, stops: watcher.stops, pushes: watcher.pushes };
}

async function shorter(compared: Compared, history: History): Promise<History> {
  let { events } = history;
  for (let at = events.length - 1; at >= 0; at--) {
    const fewer = events.filter((_, index) => index !== at);
    if ((await lossIn(compared, { ...history, events: fewer })) !== undefined) events = fewer;
  }
  return { ...history, events };
}
