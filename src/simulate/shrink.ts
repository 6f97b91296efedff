/** Makes a history that breaks a promise shorter, for as long as it still breaks the same one. */
import type { History, HistoryEvent } from './history/events.ts';
import { play } from './history/play.ts';
import type { PromiseName } from './promises.ts';
import type { Stage } from './world/world.ts';

const triesMax = 400;

export async function shrink(stage: Stage, history: History, promise: PromiseName): Promise<History> {
  let tries = 0;
  const breaks = async (events: readonly HistoryEvent[]): Promise<boolean> => {
    tries++;
    const { violation } = await play(stage, { ...history, events });
    return violation?.promise === promise;
  };
  let { events } = history;
  const isOver = (): boolean => tries >= triesMax;
  // Half of the events at first, then less and less.
  for (let size = Math.ceil(events.length / 2); size >= 1 && !isOver(); size = Math.floor(size / 2)) {
    for (let at = events.length - size; at >= 0 && !isOver(); at -= size) {
      const fewer = [...events.slice(0, at), ...events.slice(at + size)];
      if (await breaks(fewer)) events = fewer;
    }
  }
  for (let at = 0; at < events.length && !isOver(); at++) {
    const quicker = events.map((event, index) => (index === at ? { ...event, gapMs: 2000 } : event));
    if (await breaks(quicker)) events = quicker;
  }
  return { ...history, events };
}
