/**
 * The wire format of model routing: the settings of a router, and the names that requests, answers and the routing log
 * share.
 */
import { z } from 'zod';

export const modalities = ['video', 'image', 'audio'] as const;
export type Modality = (typeof modalities)[number];

export const optimizationTargets = ['cost', 'quality', 'latency'] as const;
export type OptimizationTarget = (typeof optimizationTargets)[number];

/** The Config ID. It is no longer than a DNS label, begins with a letter and never changes. */
export const slugSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must begin with a-z and hold at most 64 of a-z, 0-9, "_" and "-"');

// Half a surrogate pair has no UTF-8, so it cannot be stored.
const text = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .refine((characters) => characters.isWellFormed(), 'must be well-formed Unicode, and holds half a surrogate pair');

export const routerNameSchema = text(255).min(1);
export const routerDescriptionSchema = text(2_000);

const modelIdsMax = 10_000;

/** `allow_new_except`: `ids` is a deny list; models that are added later may be used. `allowlist_only`: only `ids` may be used. */
const listModeSchema = z.enum(['allow_new_except', 'allowlist_only']);
const modelIdSchema = z
  .string()
  .min(1)
  .max(200)
  .meta({ examples: ['gen4.5', 'gpt_image_2', 'eleven_v3'] });
const modelIdsSchema = z.array(modelIdSchema).max(modelIdsMax);

const optimizeForSchema = z.enum(optimizationTargets);
const fallbackSchema = z.strictObject({ onCapacity: z.boolean().optional() });
const modelListSchema = z.strictObject({ mode: listModeSchema, ids: modelIdsSchema });

/** Credits for one generation with all its outputs. Fractions are allowed. */
const ceilingSchema = z.number().positive();

/** The live service takes whole credits for each output, and shows no way to clear a ceiling. */
const strictCeilingSchema = z.int().min(1);

/** Settings as they are stored and shown, with every default filled in. */
export const routerSettingsSchema = z.strictObject({
  schemaVersion: z.literal(1),
  optimizeFor: optimizeForSchema,
  models: modelListSchema,
  maxCreditsPerGeneration: z
    .strictObject({
      video: ceilingSchema.optional(),
      image: ceilingSchema.optional(),
      audio: ceilingSchema.optional(),
    })
    .optional(),
  fallback: fallbackSchema.optional(),
});
export type RouterSettings = z.infer<typeof routerSettingsSchema>;

/** Default settings: the cheapest of all models, also of those that are added later. */
export const defaultRouterSettings: RouterSettings = {
  schemaVersion: 1,
  optimizeFor: 'cost',
  models: { mode: 'allow_new_except', ids: [] },
};

const patchedModelListSchema = z.strictObject({ mode: listModeSchema.optional(), ids: modelIdsSchema.optional() });

function settingsWriteShape<Ceiling extends z.ZodType>(ceiling: Ceiling) {
  return {
    schemaVersion: z.literal(1).optional(),
    optimizeFor: optimizeForSchema.optional(),
    maxCreditsPerGeneration: z
      .strictObject({ video: ceiling.optional(), image: ceiling.optional(), audio: ceiling.optional() })
      .optional(),
    fallback: fallbackSchema.optional(),
  };
}

const lenientShape = settingsWriteShape(ceilingSchema.nullable());
const strictShape = settingsWriteShape(strictCeilingSchema);

/** Settings of a new router, or settings that replace others. `null` means no ceiling. */
export const settingsCreateSchema = z.strictObject({ ...lenientShape, models: modelListSchema.optional() });

/** Changes of settings, merged at any depth. `null` removes a ceiling. */
export const settingsPatchSchema = z.strictObject({ ...lenientShape, models: patchedModelListSchema.optional() });

/** As strict as the live service. */
export const strictSettingsCreateSchema = z.strictObject({ ...strictShape, models: modelListSchema.optional() });
export const strictSettingsPatchSchema = z.strictObject({ ...strictShape, models: patchedModelListSchema.optional() });

export type SettingsPatch = z.infer<typeof settingsPatchSchema>;
