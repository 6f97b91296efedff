/**
 * The story of a planted bug, in a process of its own, as JSON. `node test/support/planted-story.ts tell NAME FILE` finds it with the bug
 * planted, makes it short and writes FILE; `again NAME FILE` plays FILE with the bug, and `mended NAME FILE` without it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { plantIn, plantOf } from './plant-in.ts';

const [, , how = '', name = '', file = ''] = process.argv;
const plant = plantOf(name);
if (how !== 'mended') plantIn(plant);

const { stageOfConfig } = await import('./planted-stage.ts');
const { eventsMax, playSeeds } = await import('../../src/simulate/campaign.ts');
const { drawHistory } = await import('../../src/simulate/history/draw.ts');
const { play } = await import('../../src/simulate/history/play.ts');
const { shrink } = await import('../../src/simulate/shrink.ts');
const { divergence, parseStory, storyOf } = await import('../../src/simulate/story.ts');
const stage = stageOfConfig(plant.config);

if (how === 'tell') {
  const { failed } = await playSeeds(stage, { from: 1, count: 1000 }, () => undefined);
  if (failed?.played.violation === undefined) throw new Error(`"${name}" was not found`);
  const { promise } = failed.played.violation;
  const history = await shrink(stage, drawHistory(stage, failed.seed, eventsMax), promise);
  const story = storyOf(history, await play(stage, history, { isKept: true }), { config: 'planted', promise });
  writeFileSync(file, JSON.stringify(story));
}
const story = parseStory(readFileSync(file, 'utf8'), file);
const played = await play(stage, { seed: story.seed, events: story.events }, { isKept: true });
const diverged = divergence(story.observed, played.lines);
const said = { promise: story.promise, steps: story.events.length, violation: played.violation, diverged };
process.stdout.write(`${JSON.stringify(said)}\n`);
