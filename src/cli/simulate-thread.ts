/** A thread that plays ranges of seeds with a config, one range after the other. Started by `simulate-threads.ts`. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openStage } from '../compose/simulated.ts';
import { loadConfig } from '../config/load.ts';
import { type Seeds, playSeeds } from '../simulate/campaign.ts';
import type { FromSimulateThread, SimulateThreadData } from './simulate-threads.ts';

const port = parentPort as MessagePort;
const { file, env } = workerData as SimulateThreadData;
const { settings } = loadConfig(file, { env, secrets: 'unused' });
if (settings === undefined) throw new Error('the config was valid a moment ago');
const { stage } = openStage(settings);

port.on('message', (seeds: Seeds) => {
  // Anything that it throws ends the thread, and whoever waits for it hears of it.
  void playSeeds(stage, seeds, () => undefined).then(({ failed, ...ranged }) => {
    const message: FromSimulateThread = { ...seeds, ...ranged, failedSeed: failed?.seed };
    port.postMessage(message);
  });
});
