/** Plants a bug: one line of the agent is changed while its file is loaded, so that nothing of it is in the product. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plant } from '../simulate/planted/plant.ts';
import { plants } from '../simulate/planted/plants.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** To be called before anything of the agent is loaded. */
export function plantIn({ name, file, find, replace }: Plant): void {
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

export function plantOf(name: string): Plant {
  const plant = plants.find((one) => one.name === name);
  if (plant === undefined) throw new Error(`there is no plant "${name}"`);
  return plant;
}
