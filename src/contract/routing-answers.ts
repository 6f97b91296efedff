/** The wire format of model routing: routing decisions, pipelines and the refusal without an eligible model. */
import { z } from 'zod';
import { optimizationTargets } from './routing-settings.ts';

/** In the order in which they run. */
export const filterNames = ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price'] as const;
const filterNameSchema = z.enum(filterNames);
export type FilterName = z.infer<typeof filterNameSchema>;

/** `cost`: sorted by estimate. `selected`: by latency or quality. `single_candidate`: only one model was left. */
const rankOutcomeSchema = z.enum(['cost', 'selected', 'fallback', 'single_candidate']);
export type RankOutcome = z.infer<typeof rankOutcomeSchema>;

/** The last one stands for a ranking that failed; the emulator's never does. */
export const reasonCodes = [
  'lowest_cost',
  'best_latency',
  'best_quality',
  'only_eligible_model',
  'filter_order_fallback',
] as const;
export type ReasonCode = (typeof reasonCodes)[number];

const filterEntrySchema = z.strictObject({
  type: z.literal('filter'),
  filter: filterNameSchema,
  /** Ids of the survivors, in the order of the catalog. */
  models: z.array(z.string()),
});
const capacitySchema = z.strictObject({
  /** Models that ranked above the pick and were skipped, because they were at their concurrency limit. */
  skipped: z.array(z.string()),
  /** Every eligible model was at its limit. No model was skipped, and the task of the best one queues. */
  allExhausted: z.boolean(),
});

/** Filters, then capacity if it changed the outcome, then rank. */
export const pipelineEntrySchema = z.discriminatedUnion('type', [
  filterEntrySchema,
  capacitySchema.extend({ type: z.literal('capacity') }),
  z.strictObject({ type: z.literal('rank'), outcome: rankOutcomeSchema }),
]);
export type PipelineEntry = z.infer<typeof pipelineEntrySchema>;
export type FilterEntry = z.infer<typeof filterEntrySchema>;
export type CapacityFallback = z.infer<typeof capacitySchema>;

const resolvedInputSchemas = {
  /** `duration` in seconds, `ratio` in pixels as `<width>:<height>`, `resolution` in the request's words. */
  video: z.strictObject({ duration: z.number(), ratio: z.string(), resolution: z.string() }),
  image: z.strictObject({ aspectRatio: z.string(), ratio: z.string(), resolution: z.string() }),
  audio: z.strictObject({
    type: z.enum(['speech', 'audio']),
    voice: z.enum(['preset', 'reference-audio', 'default', 'none']),
  }),
};
export type ResolvedVideo = z.infer<typeof resolvedInputSchemas.video>;
export type ResolvedImage = z.infer<typeof resolvedInputSchemas.image>;
export type ResolvedAudio = z.infer<typeof resolvedInputSchemas.audio>;
export type ResolvedInput = ResolvedVideo | ResolvedImage | ResolvedAudio;

const resolvedSettingsSchema = z.strictObject({
  optimizeFor: z.enum(optimizationTargets),
  /** Credits; null if the router sets no ceiling for this modality. */
  priceCeiling: z.number().nullable(),
});
export type ResolvedSettings = z.infer<typeof resolvedSettingsSchema>;

/** The `routing` of an answer to a generation. */
export const routingSchema = z.strictObject({
  model: z.string(),
  provider: z.string(),
  configId: z.string(),
  resolvedSettings: resolvedSettingsSchema,
  resolvedInput: z.union([resolvedInputSchemas.video, resolvedInputSchemas.image, resolvedInputSchemas.audio]),
  estimatedCost: z.strictObject({ credits: z.number() }),
  capacityFallback: capacitySchema.optional(),
});
export type Routing = z.infer<typeof routingSchema>;

export const generateAnswerSchema = z.strictObject({ id: z.uuid(), routing: routingSchema });
export const dryRunAnswerSchema = z.strictObject({ dryRun: z.literal(true), routing: routingSchema });

/** The body of the 400 if a filter leaves no model. */
export const noEligibleModelSchema = z.strictObject({
  error: z.string(),
  code: z.literal('no_eligible_model'),
  pipeline: z.array(filterEntrySchema),
  emptiedBy: z.array(filterNameSchema),
});
