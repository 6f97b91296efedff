/** A history that is worth telling: as lines for a person, and as a file that is played again. */
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import { type History, eventKinds } from './history/events.ts';
import type { Played } from './history/play.ts';
import { type PromiseName, promises } from './promises.ts';

/** A day is twice what histories have: a story that somebody wrote must not last for ages. */
const gapMsMax = 24 * 3_600_000;

const storyShape = z.object({
  story: z.literal(1),
  /** Of the config that it was played with. */
  config: z.string(),
  /** What is broken in it; or that a setting lets something through. */
  promise: z.string(),
  /** The setting, by its key in the config. */
  loose: z.string().optional(),
  seed: z.int(),
  events: z.array(z.object({ kind: z.enum(eventKinds), gapMs: z.int().min(0).max(gapMsMax), draw: z.int() })).max(100),
  /** All that was observed: a replay that sees anything else has diverged. */
  observed: z.array(z.string()),
});

export type Story = z.infer<typeof storyShape>;

export function storyOf(
  history: History,
  played: Played,
  of: { readonly config: string; readonly promise: PromiseName | 'loss'; readonly loose?: string },
): Story {
  return { story: 1, ...of, seed: history.seed, events: [...history.events], observed: [...played.lines] };
}

/** @throws AgentError `usage` for a text that is no story */
export function parseStory(text: string, file: string): Story {
  try {
    return storyShape.parse(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError) && !(cause instanceof z.ZodError)) throw cause;
    throw new AgentError('usage', `${file} is no story`, {
      cause,
      hint: 'name a file that "driver-sync simulate" wrote',
    });
  }
}

/** The first line that a replay sees otherwise; `undefined` where it sees all of them. */
export function divergence(observed: readonly string[], now: readonly string[]): string | undefined {
  const length = Math.max(observed.length, now.length);
  for (let at = 0; at < length; at++) {
    const [was, is] = [observed[at], now[at]];
    if (was !== is)
      return `line ${at + 1}: "${was ?? 'nothing more'}" was observed then, "${is ?? 'nothing more'}" now`;
  }
  return undefined;
}

/** For a person: what happened, in order, and which promise it broke. */
export function tellStory({ violation, told }: Pick<Played, 'violation' | 'told'>): readonly string[] {
  const end = violation === undefined ? [] : [`broken: ${promises[violation.promise]}: ${violation.how}`];
  return [...told, ...end];
}
