/**
 * The agent with one line of it changed: a bug that is planted to see whether the simulated world finds it. The change is made while
 * the file is loaded, so that nothing of it is in the product.
 *
 * `node test/support/planted.ts NAME SEEDS`, a process of its own, prints the first seed that breaks a promise as JSON.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plant, plants } from '../simulate/planted/plants.ts';

const root = path.resolve(import.meta.dirname, '../..');

function plantIn({ name, file, find, replace }: Plant): void {
  const planted = pathToFileURL(path.join(root, 'src', file)).href;
  registerHooks({
    load(url, context, nextLoad) {
      if (url !== planted) return nextLoad(url, context);
      const text = readFileSync(fileURLToPath(url), 'utf8');
      if (text.split(find).length !== 2) throw new Error(`plant "${name}": its text is not once in ${file}`);
      return { format: 'module-typescript', source: text.replace(find, () => replace), shortCircuit: true };
    },
  });
}

const [, , name = '', seeds = '1000'] = process.argv;
const plant = plants.find((one) => one.name === name);
if (plant === undefined) throw new Error(`there is no plant "${name}"`);
plantIn(plant);

const { stageOfConfig } = await import('./planted-stage.ts');
const { playSeeds } = await import('../../src/simulate/campaign.ts');
const { failed } = await playSeeds(stageOfConfig(plant.config), { from: 1, count: Number(seeds) }, () => undefined);
const { seed, played } = failed ?? {};
process.stdout.write(`${JSON.stringify({ seed, promise: played?.violation?.promise, how: played?.violation?.how })}\n`);
