/**
 * The agent with a bug planted, to see whether the simulated world finds it: `node test/support/planted.ts NAME SEEDS`, a process of
 * its own, prints the first seed that breaks a promise as JSON.
 */
import { plantIn, plantOf } from './plant-in.ts';

const [, , name = '', seeds = '1000'] = process.argv;
const plant = plantOf(name);
plantIn(plant);

const { stageOfConfig } = await import('./planted-stage.ts');
const { playSeeds } = await import('../../src/simulate/campaign.ts');
const { playFleet } = await import('../../src/simulate/machines/play-fleet.ts');
const { failed } = await playSeeds(
  stageOfConfig(plant.config),
  { from: 1, count: Number(seeds) },
  () => undefined,
  plant.isShared && playFleet,
);
const { seed, played } = failed ?? {};
// Such a bug was not found: its line does not fit the code around it any more.
const { promise, how = '' } = played?.violation ?? {};
if (/^(?:Type|Reference|Syntax)Error/.test(how)) throw new Error(`"${name}" does not run: ${how}`);
if (promise !== undefined && !plant.breaks.includes(promise)) {
  throw new Error(
    `"${name}" broke "${promise}" in seed ${seed}, and only ${plant.breaks.join(', ')} stand in its "breaks": ${how}`,
  );
}
process.stdout.write(`${JSON.stringify({ seed, promise, how })}\n`);
