/** What a config's own settings let through, shown by a history of this very config each, and how long a hold lasts unseen. */
import path from 'node:path';
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { History } from '../simulate/history/events.ts';
import type { Played } from '../simulate/history/play.ts';
import { type ShownLoss, findLoss, lossSeedsMax, stageForLoss, watchLoss } from '../simulate/losses/find-loss.ts';
import type { Loss } from '../simulate/losses/loss-watch.ts';
import { type UnseenHold, unseenHold } from '../simulate/losses/unseen.ts';
import { storyOf } from '../simulate/story.ts';
import { type LooseSetting, type Warning, looseSettings } from '../simulate/warnings.ts';
import type { Stage } from '../simulate/world/world.ts';
import type { Context } from './context.ts';
import { type Kept, keepStory } from './simulate-stories.ts';

/** A warning, and a history in which it came true. */
export interface ShownWarning extends Warning {
  readonly loss?: (Loss & TellsLoss) | undefined;
}

interface TellsLoss {
  readonly seed: number;
  readonly story: readonly string[];
  /** What the agent says to the same history where the setting is the usual one. */
  readonly stoppedBy?: string | undefined;
  /** What is done there then, where nothing has to be stopped. */
  readonly instead?: string | undefined;
  /** Where its story lies; `simulate --story` plays it. */
  readonly file?: string | undefined;
  /** Why it lies nowhere, where it was to be kept. */
  readonly unkept?: string | undefined;
}

/** So many sources with the same setting are played: hundreds would tell the same. */
const alikeMax = 3;

export async function showLosses(
  context: Context,
  stage: Stage,
  { settings, seed, stories }: { settings: Settings; seed: number; stories: string | undefined },
): Promise<{ readonly warnings: readonly ShownWarning[]; readonly unseen: UnseenHold | undefined }> {
  const shown: ShownWarning[] = [];
  /** By what settings let through: where it was played. */
  const played = new Map<string, string[]>();
  for (const loose of looseSettings(settings)) {
    const { path: key, message } = loose;
    const alike = played.get(message) ?? [];
    const whyNotPlayed = alike.length < alikeMax ? loose.whyNotPlayed : `as ${alike.join(', ')}`;
    const found = whyNotPlayed === undefined ? await findLoss(stage, loose, seed) : undefined;
    const kept = found && stories ? keep(context, { settings, stories, loose, found }) : undefined;
    const unshown = `${message} (${whyNotPlayed ?? `none of ${lossSeedsMax} histories shows it`})`;
    shown.push({ path: key, message: found ? message : unshown, ...(found && { loss: tellsOf(found, loose, kept) }) });
    if (whyNotPlayed === undefined) played.set(message, [...alike, key]);
  }
  const unseen = await unseenHold(stage, seed);
  return { warnings: [...shown, ...tellingWarnings(settings, unseen)], unseen };
}

function tellsOf(found: ShownLoss, { instead }: LooseSetting, kept: Kept | undefined): Loss & TellsLoss {
  const { points, drivers, of, example, seed, stoppedBy, played } = found;
  return {
    seed,
    points,
    drivers,
    of,
    example,
    story: played.told,
    ...(stoppedBy === undefined ? instead && { instead } : { stoppedBy }),
    ...kept,
  };
}

function keep(
  context: Context,
  of: { settings: Settings; stories: string; loose: LooseSetting; found: ShownLoss },
): Kept {
  const { settings, stories, loose, found } = of;
  const file = path.join(stories, `driver-sync-loss-${loose.path.replaceAll(/[^\w.-]+/g, '_')}.json`);
  const story = storyOf(found.history, found.played, { config: settings.digest, promise: 'loss', loose: loose.path });
  return keepStory(context, file, story);
}

/** Plays the story of a loss again. @throws AgentError `usage` where the config has no such setting */
export async function playLoss(
  stage: Stage,
  settings: Settings,
  { loose, history, file }: { readonly loose: string; readonly history: History; readonly file: string },
): Promise<{ readonly played: Played; readonly warning: ShownWarning }> {
  const setting = looseSettings(settings).find((one) => one.path === loose);
  if (setting === undefined) {
    throw new AgentError('usage', `the story is about ${loose}, which lets nothing through in this config`, {
      hint: 'play it with the config that it was told of',
    });
  }
  const { played, loss } = await watchLoss(stageForLoss(stage, setting), setting, history);
  const { path: key, message } = setting;
  const shown = loss && { ...loss, seed: history.seed, story: played.told, file };
  return { played, warning: { path: key, message, ...(shown && { loss: shown }) } };
}

function tellingWarnings(
  { notify, heartbeat, status, unaddressed }: Settings,
  unseen: UnseenHold | undefined,
): readonly Warning[] {
  if ([...notify, ...unaddressed.notify].some(({ on }) => on.includes('held'))) return [];
  const where = status === undefined ? '"driver-sync status"' : 'the status page';
  const stops = heartbeat === undefined && !unaddressed.heartbeat ? '' : ' or misses the heartbeat';
  const lasted = unseen === undefined ? '' : `; one was still there after ${unseen.days} days`;
  return [
    { path: 'notify', message: `nobody is told of a hold: it lasts until somebody looks at ${where}${stops}${lasted}` },
  ];
}
