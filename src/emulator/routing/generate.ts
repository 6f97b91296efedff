/** A request to generate: from its body to a decision and, unless it is a dry run, to a task. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Routing as RoutingDecision } from '../../contract/routing-answers.ts';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../contract/routing-inputs.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import { slugSchema } from '../../contract/routing-settings.ts';
import type { Catalog } from './catalog.ts';
import type { LogInput } from './routing-log.ts';
import { decide } from './pipeline.ts';
import type { Decision } from './pipeline.ts';
import { invalid, notEnoughCredits, Refusal } from './refusal.ts';
import type { Router } from './routers.ts';
import type { Routing } from './routing.ts';
import type { Ending } from './tasks.ts';

export interface GenerateCall {
  readonly modality: Modality;
  readonly body: unknown;
  readonly requestId: string;
  /** The end that a fault orders for the task. Called when the task is created. */
  readonly orderedEnding: () => Ending | undefined;
}

export type GenerateAnswer =
  | { readonly dryRun: true; readonly routing: RoutingDecision }
  | { readonly id: string; readonly routing: RoutingDecision };

/** How long a task takes without `strict`. */
const taskMs = 5_000;

type Routed = Extract<Decision, { kind: 'routed' }>;

/**
 * Reads a request on arrival and returns the function that generates. Later changes of routers and of the catalog do not
 * affect a request in flight.
 */
export function receiveGeneration(routing: Routing, call: GenerateCall): () => GenerateAnswer {
  const { catalog, routers } = routing;
  const request = readRequest(routing, call);
  if (!request.success) {
    const router = routerNamedBy(routing, call.body);
    return () => refuseInvalid(routing, call.requestId, { router, issues: request.error.issues });
  }
  const router = routers.bySlug(request.data.configId);
  return () => generate(routing, call, { ...request.data, router, catalog });
}

interface Received extends GenerateRequest {
  readonly router: Router | undefined;
  readonly catalog: Catalog;
}

/** @throws Refusal 400 no eligible model or too few credits; 404 no such router; 429 daily cap. */
function generate(routing: Routing, call: GenerateCall, received: Received): GenerateAnswer {
  const { configId, input, dryRun, router, catalog } = received;
  if (router === undefined) {
    throw new Refusal(404, {
      error: `there is no router with the Config ID "${configId}"`,
      code: 'router_config_not_found',
    });
  }
  const decision = decide(
    routing.requestOf(router, call.modality, input),
    catalog,
    (model) => !routing.tasks.hasCapacity(model),
  );
  if (decision.kind === 'no_eligible_model') {
    const { error, pipeline, emptiedBy } = decision;
    if (dryRun !== true) {
      const record: LogInput = {
        requestId: call.requestId,
        status: 'no_eligible_model',
        reason: error,
        pipeline,
        emptiedBy,
      };
      routing.log.add(router.id, record, routing.clock.now());
    }
    throw new Refusal(400, { error, code: 'no_eligible_model', pipeline, emptiedBy });
  }
  const shown = viewDecision(decision, configId);
  if (dryRun === true) return { dryRun: true, routing: shown };
  return { id: createTask(routing, call, { router, decision, input }), routing: shown };
}

interface GenerateRequest {
  readonly configId: string;
  readonly input: z.output<(typeof generateRequestSchemas)[Modality]>['input'];
  readonly dryRun?: boolean | undefined;
}

function readRequest({ strict }: Routing, { modality, body }: GenerateCall): z.ZodSafeParseResult<GenerateRequest> {
  const schemas = strict ? generateRequestSchemas : lenientGenerateRequestSchemas;
  return (schemas[modality] as z.ZodType<GenerateRequest>).safeParse(body);
}

interface Invalid {
  /** The router whose log records it. */
  readonly router: Router | undefined;
  readonly issues: readonly z.core.$ZodIssue[];
}

/** @throws Refusal 400, always */
function refuseInvalid({ log, clock }: Routing, requestId: string, { router, issues }: Invalid): never {
  if (router !== undefined) {
    const [first] = issues;
    const reason = `${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`.slice(0, 500);
    log.add(router.id, { requestId, status: 'invalid_request', reason }, clock.now());
  }
  throw invalid(issues);
}

/** The router that a body with an invalid input names, for its log. Undefined for a dry run, which is not logged. */
function routerNamedBy(routing: Routing, body: unknown): Router | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { configId, dryRun } = body as { configId?: unknown; dryRun?: unknown };
  const slug = slugSchema.safeParse(configId);
  return slug.success && dryRun !== true ? routing.routers.bySlug(slug.data) : undefined;
}

function viewDecision(decision: Routed, configId: string): RoutingDecision {
  const { model, provider, resolvedSettings, resolvedInput, estimatedCost, capacityFallback } = decision;
  return {
    model,
    provider,
    configId,
    resolvedSettings,
    resolvedInput,
    estimatedCost,
    ...(capacityFallback !== undefined && { capacityFallback }),
  };
}

interface Pick {
  readonly router: Router;
  readonly decision: Routed;
  readonly input: GenerateRequest['input'];
}

/** Creates the task, takes its cost and logs the request, or logs the refusal. Returns the task's id. */
function createTask(routing: Routing, call: GenerateCall, { router, decision, input }: Pick): string {
  const { store, clock, account, tasks, log } = routing;
  const nowMs = clock.now();
  const { model, provider, resolvedInput, estimatedCost, pipeline, reason, reasonCode } = decision;
  // Rounding errors of floating point must not round the price up.
  const chargedCredits = Math.ceil(estimatedCost.credits - 1e-9);
  const refusal = refusalOf(routing, model, chargedCredits);
  const estimatedCredits = estimatedCost.credits;
  if (refusal !== undefined) {
    const record: LogInput = {
      requestId: call.requestId,
      status: 'error',
      reason: refusal.message,
      estimatedCredits,
      pipeline,
    };
    log.add(router.id, record, nowMs);
    throw refusal;
  }
  const id = randomUUID();
  const outputs = 'outputCount' in input ? (input.outputCount ?? 1) : 1;
  store.change(() => {
    account.charge({ id, model }, chargedCredits, nowMs);
    tasks.create({
      id,
      routerId: router.id,
      modality: call.modality,
      promptText: input.promptText,
      model,
      provider,
      resolvedInput,
      estimatedCredits,
      chargedCredits,
      outputs,
      durationMs: routing.strict ? expectedMs(routing, model) : taskMs,
      ending: call.orderedEnding() ?? { status: 'SUCCEEDED' },
    });
    log.add(
      router.id,
      {
        requestId: call.requestId,
        status: 'routed',
        model,
        provider,
        reason,
        reasonCode,
        estimatedCredits,
        taskId: id,
        pipeline,
      },
      nowMs,
    );
  });
  return id;
}

function refusalOf(routing: Routing, model: string, credits: number): Refusal | undefined {
  const { account, clock } = routing;
  const dailyMax = routing.limitsOf(model).daily;
  if (dailyMax !== null && account.dailyGenerations(model, clock.now()) >= dailyMax) {
    return new Refusal(429, {
      error: `the daily limit of ${dailyMax} generations with ${model} is reached; it counts 24 hours back`,
    });
  }
  return account.credits < credits ? notEnoughCredits() : undefined;
}

function expectedMs(routing: Routing, model: string): number {
  const expectedSeconds = routing.catalog.models.find(({ id }) => id === model)?.expectedSeconds;
  return Math.ceil((expectedSeconds ?? taskMs / 1_000) * 1_000);
}
