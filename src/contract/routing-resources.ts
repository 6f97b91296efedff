/**
 * The wire format of model routing: routers, the routing log, tasks, the organization and uploads. Shapes that the service's
 * guide does not show are from the vendor's interface description.
 */
import { z } from 'zod';
import { filterNames, pipelineEntrySchema, reasonCodes } from './routing-answers.ts';
import {
  routerDescriptionSchema,
  routerNameSchema,
  routerSettingsSchema,
  settingsCreateSchema,
  settingsPatchSchema,
  slugSchema,
  strictSettingsCreateSchema,
  strictSettingsPatchSchema,
} from './routing-settings.ts';

const momentSchema = z.iso.datetime();
const creditsSchema = z.strictObject({ credits: z.number() });

/** `slug` and `name` are required, as the service's guide says. */
export const routerCreateSchema = z.strictObject({
  slug: slugSchema,
  name: routerNameSchema,
  description: routerDescriptionSchema.nullable().optional(),
  settings: settingsCreateSchema.optional(),
});
export type RouterCreate = z.infer<typeof routerCreateSchema>;

/** As the live service takes it: without `name` the slug is the name, and only an update may have a `description` of null. */
export const strictRouterCreateSchema = routerCreateSchema
  .extend({
    name: routerNameSchema.optional(),
    description: routerDescriptionSchema.optional(),
    settings: strictSettingsCreateSchema.optional(),
  })
  .transform((router): RouterCreate => ({ ...router, name: router.name ?? router.slug }));

/** A slug cannot be changed. */
export const routerUpdateSchema = z.strictObject({
  name: routerNameSchema.optional(),
  description: routerDescriptionSchema.nullable().optional(),
  settings: settingsPatchSchema.optional(),
});
export type RouterUpdate = z.infer<typeof routerUpdateSchema>;

export const strictRouterUpdateSchema = routerUpdateSchema.extend({ settings: strictSettingsPatchSchema.optional() });

export const routerSchema = z.strictObject({
  id: z.uuid(),
  slug: slugSchema,
  name: routerNameSchema,
  description: routerDescriptionSchema.nullable(),
  version: z.int().positive(),
  settings: routerSettingsSchema,
  createdAt: momentSchema,
  updatedAt: momentSchema,
});
export type RouterAnswer = z.infer<typeof routerSchema>;

/** One record of the routing log. It always has all keys. */
export const routedRequestSchema = z.strictObject({
  id: z.uuid(),
  requestId: z.string(),
  status: z.enum(['routed', 'no_eligible_model', 'router_config_not_found', 'invalid_request', 'error']),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  reason: z.string().nullable(),
  reasonCode: z.enum(reasonCodes).nullable(),
  estimatedCredits: z.number().nullable(),
  taskId: z.uuid().nullable(),
  createdAt: momentSchema,
  pipeline: z.array(pipelineEntrySchema),
  emptiedBy: z.array(z.enum(filterNames)),
});
export type RoutedRequest = z.infer<typeof routedRequestSchema>;

function pageSchemaOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row), hasMore: z.boolean(), nextCursor: z.string().nullable() });
}

export const routerPageSchema = pageSchemaOf(routerSchema);
export const routedRequestPageSchema = pageSchemaOf(routedRequestSchema);

const taskHead = { id: z.uuid(), createdAt: momentSchema };
const waitingShape = { ...taskHead, estimatedCost: creditsSchema };
const costSchema = z.strictObject({ credits: z.int().nonnegative() });

/** A task by its `status`: before its end it has an estimate, afterwards a cost. */
export const taskSchema = z.discriminatedUnion('status', [
  z.strictObject({ ...waitingShape, status: z.literal('PENDING') }),
  z.strictObject({ ...waitingShape, status: z.literal('THROTTLED') }),
  z.strictObject({ ...waitingShape, status: z.literal('RUNNING'), progress: z.number().min(0).max(1) }),
  z.strictObject({ ...taskHead, status: z.literal('SUCCEEDED'), output: z.array(z.url()), cost: costSchema }),
  z.strictObject({
    ...taskHead,
    status: z.literal('FAILED'),
    failure: z.string(),
    failureCode: z.string().optional(),
    cost: costSchema,
  }),
  z.strictObject({ ...taskHead, status: z.literal('CANCELLED'), cost: costSchema }),
]);
export type TaskAnswer = z.infer<typeof taskSchema>;

export const organizationSchema = z.strictObject({
  tier: z.strictObject({
    maxMonthlyCreditSpend: z.int(),
    models: z.record(
      z.string(),
      z.strictObject({
        maxConcurrentGenerations: z.int().nullable(),
        maxDailyGenerations: z.int().nullable(),
      }),
    ),
  }),
  creditBalance: z.int().nonnegative(),
  usage: z.strictObject({ models: z.record(z.string(), z.strictObject({ dailyGenerations: z.int() })) }),
});
export type Organization = z.infer<typeof organizationSchema>;

const dateSchema = z.iso.date();

/** Days in UTC, without `beforeDate` itself. */
export const usageQuerySchema = z.strictObject({ startDate: dateSchema.optional(), beforeDate: dateSchema.optional() });
export type UsageQuery = z.infer<typeof usageQuerySchema>;

export const usageSchema = z.strictObject({
  results: z.array(
    z.strictObject({
      date: dateSchema,
      /** Negative if more was refunded than used. */
      usedCredits: z.array(z.strictObject({ model: z.string(), amount: z.int() })),
    }),
  ),
  models: z.array(z.string()),
});
export type Usage = z.infer<typeof usageSchema>;

export const uploadCreateSchema = z.strictObject({
  filename: z.string().min(3).max(255),
  type: z.literal('ephemeral'),
});
export const uploadSchema = z.strictObject({
  uploadUrl: z.url(),
  /** Form fields to send along, before the file. */
  fields: z.record(z.string(), z.string()),
  runwayUri: z.string(),
});
export type UploadAnswer = z.infer<typeof uploadSchema>;

/** Any refusal. `issues`: what does not fit in a body or query. `code`: for programs that handle this refusal. */
export const errorSchema = z.looseObject({
  error: z.string(),
  code: z.string().optional(),
  issues: z.array(z.looseObject({ code: z.string(), path: z.array(z.union([z.string(), z.number()])) })).optional(),
  docUrl: z.string().optional(),
});
