/** `simulate`: the user's config in a simulated world full of faults. Opens no source and no connection, and needs no secret. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openStage } from '../compose/simulated.ts';
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { type Ranged, type Seeds, digestOf, eventsMax, playSeeds } from '../simulate/campaign.ts';
import { drawHistory } from '../simulate/history/draw.ts';
import type { History } from '../simulate/history/events.ts';
import { type Played, play } from '../simulate/history/play.ts';
import { type PromiseName, promises } from '../simulate/promises.ts';
import { castMax } from '../simulate/stage.ts';
import { shrink } from '../simulate/shrink.ts';
import { divergence, parseStory, storyOf, tellStory } from '../simulate/story.ts';
import type { Stage } from '../simulate/world/world.ts';
import type { Warning } from '../simulate/warnings.ts';
import { type Context, answer, load, loadSettings } from './context.ts';
import { wholePath } from './working-directory.ts';
import { playInThreads } from './simulate-threads.ts';
import { playLoss, showLosses } from './simulate-losses.ts';
import { keepStory, openStories } from './simulate-stories.ts';
import { type Broken, type Simulated, showSimulated } from './simulate-text.ts';

export interface SimulateOptions {
  readonly seed?: string;
  readonly histories?: string;
  readonly story?: string;
  readonly workers?: string;
  readonly stories?: string;
  readonly marks?: boolean;
}

const historiesDefault = 300;
const seedMax = 2 ** 31;

export async function simulate(context: Context, options: SimulateOptions): Promise<number> {
  const settings = loadSettings(context, 'unused');
  if (settings.sources.length === 0)
    throw new AgentError('config.invalid', 'the config has no source: there is nothing to play', {
      hint: 'add one under "sources", or let "driver-sync init" write a config with sample data',
    });
  const { stage, warnings } = openStage(settings);
  if (options.story !== undefined) return playStory(context, stage, { settings, file: options.story });
  const seed = wholeNumber(options.seed ?? '1', 'seed', seedMax);
  const histories = wholeNumber(options.histories ?? String(historiesDefault), 'histories', 100_000_000);
  if (options.stories !== undefined) openStories(wholePath(context, options.stories));
  const progress = openCount(histories);
  const threads = wholeNumber(
    options.workers ?? String(threadsFor(histories, settings.sources.length)),
    'workers',
    256,
  );
  const played = await playAll(stage, { context, settings, seeds: { from: seed, count: histories }, threads }, (done) =>
    progress.done(done),
  );
  progress.end();
  const { steps, digests, marks, failedSeed } = played;
  const violation =
    failedSeed === undefined ? {} : { violation: await tellBroken(context, stage, { settings, seed: failedSeed }) };
  const losses = await showLosses(context, stage, { settings, seed, stories: options.stories });
  const result: Simulated = {
    seed,
    histories: digests.length,
    steps,
    digest: digestOf(digests),
    marks: Object.fromEntries([...marks].sort(([a], [b]) => (a < b ? -1 : 1))),
    warnings: [...unsetSettings(context), ...warnings, ...losses.warnings],
    ...(losses.unseen && { unseen: losses.unseen }),
    ...violation,
  };
  const exit = result.violation === undefined ? 0 : 1;
  answer(context, { ...result, exit }, () => showSimulated(result, { hasMarks: options.marks === true }));
  return exit;
}

/** Keys that make a difference in the simulated world: it has no connections. */
const playedKeys =
  /^(timezone|schedule|pushOnChange|refresh|lastClose|guard)\b|^(defaults|sources\.[\w.-]+)\.(removed|history|guard|mayBeEmpty|where|missing|fillDown|unpivot|maps|fiscalYear|timeout|lineEnd|parts|drivers)\b/;

/** A setting whose variable is not set here may be another one where the agent runs. */
function unsetSettings(context: Context): readonly Warning[] {
  return load(context, 'required')
    .problems.filter(({ path }) => playedKeys.test(path))
    .map(({ path, message }) => ({ path, message: `${message}: it is played as if it were left out` }));
}

/** A thread has to load the agent first, which takes as long as a hundred histories of a source or two. */
function threadsFor(histories: number, sources: number): number {
  const work = histories * Math.max(1, Math.min(sources, castMax) / 3);
  return work < 500 ? 1 : Math.min(availableParallelism(), 16);
}

interface All extends Omit<Ranged, 'failed'> {
  readonly failedSeed: number | undefined;
}

async function playAll(
  stage: Stage,
  {
    context,
    settings,
    seeds,
    threads,
  }: { readonly context: Context; readonly settings: Settings; readonly seeds: Seeds; readonly threads: number },
  progress: (done: number) => void,
): Promise<All> {
  if (threads === 1) {
    const { failed, ...played } = await playSeeds(stage, seeds, progress);
    return { ...played, failedSeed: failed?.seed };
  }
  return playInThreads({ file: settings.file, env: { ...context.env } }, { ...seeds, threads }, progress);
}

/** Makes the history shorter, and keeps it as a file. */
async function tellBroken(
  context: Context,
  stage: Stage,
  { settings, seed }: { readonly settings: Settings; readonly seed: number },
): Promise<Broken> {
  const history = drawHistory(stage, seed, eventsMax);
  const first = await play(stage, history);
  const promise = first.violation?.promise ?? 'ends';
  const short = await shrink(stage, history, promise);
  const played = await play(stage, short, { isKept: true });
  const story = storyOf(short, played, { config: settings.digest, promise });
  return {
    seed,
    promise: promises[promise],
    story: tellStory(played),
    ...keepStory(context, `driver-sync-story-${seed}.json`, story),
  };
}

async function playStory(
  context: Context,
  stage: Stage,
  { settings, file }: { readonly settings: Settings; readonly file: string },
): Promise<number> {
  const named = wholePath(context, file);
  const story = parseStory(readStory(named), file);
  const history: History = { seed: story.seed, events: story.events };
  const { played, warning } =
    story.loose === undefined
      ? { played: await play(stage, history, { isKept: true }) }
      : await playLoss(stage, settings, { loose: story.loose, history, file: named });
  const isSameConfig = story.config === settings.digest;
  const diverged = divergence(story.observed, played.lines);
  const lines = tellStory(played);
  const { digest, steps, marks } = played;
  const broken = brokenBy(played, { seed: story.seed, file: named });
  const result = {
    seed: story.seed,
    histories: 1,
    steps,
    digest: digestOf([digest]),
    marks: Object.fromEntries(marks),
    warnings: warning === undefined ? [] : [warning],
    isSameConfig,
    diverged,
  };
  const exit = broken === undefined ? 0 : 1;
  answer(context, { ...result, ...(broken && { violation: broken }), exit }, () => [
    ...lines,
    ...(isSameConfig ? [] : ['the story was told of another config: what happens in this one may be something else']),
    ...(diverged === undefined ? [] : [`this is not what happened then; ${diverged}`]),
    ...(broken === undefined && story.loose === undefined ? ['no promise is broken'] : []),
  ]);
  return exit;
}

function brokenBy(
  { violation, told }: Played,
  of: { readonly seed: number; readonly file: string },
): Broken | undefined {
  const promise: PromiseName | undefined = violation?.promise;
  return promise === undefined
    ? undefined
    : { ...of, promise: promises[promise], story: tellStory({ violation, told }) };
}

function readStory(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AgentError('usage', `${file} cannot be read`, { cause, hint: '--story names the file of a story' });
  }
}

function wholeNumber(text: string, option: string, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw new AgentError('usage', `--${option} is "${text}"`, { hint: `a whole number from 1 to ${max}` });
}

/** How many histories were played, on a terminal. */
function openCount(all: number): { done(count: number): void; end(): void } {
  const stream = process.stderr;
  let shownMs = 0;
  const startedMs = performance.now();
  return {
    done(played) {
      const nowMs = performance.now();
      if (!stream.isTTY || nowMs - shownMs < 200) return;
      shownMs = nowMs;
      const perSecond = Math.round((played / (nowMs - startedMs)) * 1000);
      stream.write(`\r\u001b[K${played} of ${all} histories, ${perSecond} a second`);
    },
    end() {
      if (shownMs > 0) stream.write('\r\u001b[K');
    },
  };
}
