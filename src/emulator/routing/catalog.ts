/** The catalog of models as data. The pipeline reads it, `GET /_emulator/catalog` shows it, `--catalog FILE` changes it. */
import { z } from 'zod';
import { audioModels } from './audio-models.ts';
import { imageModels } from './image-models.ts';
import { modelSchema } from './model.ts';
import type { Model } from './model.ts';
import { videoModels } from './video-models.ts';

export type { Model } from './model.ts';

/** The order of the models is that of `pipeline`, and breaks ties in the ranking. */
export interface Catalog {
  readonly models: readonly Model[];
}

const modelListSchema = z.array(modelSchema).check(({ value, issues }) => {
  const ids = new Set<string>();
  for (const [index, { id }] of value.entries()) {
    if (ids.has(id)) issues.push({ code: 'custom', message: `${id} is there already`, path: [index, 'id'], input: id });
    ids.add(id);
  }
});

const wholeSchema = z.strictObject({ models: modelListSchema });
const changeSchema = z.strictObject({
  add: modelListSchema.default([]),
  remove: z.array(z.string()).default([]),
});

/** Every known model of the service, with what is published about it. */
export const builtInCatalog: Catalog = wholeSchema.parse({ models: [...videoModels, ...imageModels, ...audioModels] });

/**
 * Reads a catalog: a whole one, `{ "models": [...] }` or just the list, or changes of `base`,
 * `{ "add": [...], "remove": [ids] }`. An added model replaces one with the same id, or else goes to the end.
 * @throws z.ZodError
 */
export function parseCatalog(json: unknown, base: Catalog = builtInCatalog): Catalog {
  if (Array.isArray(json)) return { models: modelListSchema.parse(json) };
  if (typeof json === 'object' && json !== null && 'models' in json) return wholeSchema.parse(json);
  return changedCatalog(changeSchema.parse(json), base);
}

function changedCatalog({ add, remove }: z.output<typeof changeSchema>, base: Catalog): Catalog {
  const models = new Map(base.models.map((model) => [model.id, model]));
  for (const [index, id] of remove.entries()) {
    if (models.delete(id)) continue;
    const message = `there is no model ${id} to remove; the models are ${[...models.keys()].join(', ')}`;
    throw new z.ZodError([{ code: 'custom', message, path: ['remove', index], input: id }]);
  }
  for (const model of add) models.set(model.id, model);
  return { models: [...models.values()] };
}

/** The catalog in the form that `parseCatalog` reads. */
export function catalogView({ models }: Catalog): { readonly models: readonly Model[] } {
  return { models };
}
