/** OpenAPI 3.1 of area A, made of the schemas that requests are checked by. */
import { z } from 'zod';
import { errorSchema } from '../../contract/routing-resources.ts';
import type { Operation } from './operations.ts';
import { operations } from './operations.ts';

interface OpenApiOptions {
  readonly strict: boolean;
  /** Whether requests without a key are refused. */
  readonly needsKey: boolean;
  /** Where clients find the emulator. */
  readonly origin: string;
}

/** What any operation may be answered with: a version or a key that is none, a body that is too long or coded unknown. */
const refusalStatuses = [400, 413, 415];

export function openApiOf({ strict, needsKey, origin }: OpenApiOptions): object {
  const refusals = needsKey ? [...refusalStatuses, 401] : refusalStatuses;
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, operation] of Object.entries<Operation>(operations)) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operationId, operation, { strict, refusals });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model routing, as driver-sync emulates it',
      version: '2024-11-06',
      description: 'Made of the schemas that requests are checked by.',
    },
    servers: [{ url: origin }],
    security: needsKey ? [{ ApiKeyAuth: [] }] : [{}, { ApiKeyAuth: [] }],
    paths,
    components: {
      securitySchemes: { ApiKeyAuth: { type: 'http', scheme: 'bearer' } },
      parameters: {
        version: {
          name: 'X-Runway-Version',
          in: 'header',
          required: strict,
          schema: { type: 'string', const: '2024-11-06' },
        },
        id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        limit: {
          name: 'limit',
          in: 'query',
          schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
        },
        cursor: { name: 'cursor', in: 'query', schema: { type: 'string', minLength: 1, maxLength: 1000 } },
      },
      responses: { Refusal: { ...describeAnswer([errorSchema]), description: 'Refused' } },
    },
  };
}

interface Manner {
  readonly strict: boolean;
  /** Statuses. */
  readonly refusals: readonly number[];
}

function describe(operationId: string, operation: Operation, { strict, refusals }: Manner): object {
  const { path, summary, isPaged, lenientRequest, answers } = operation;
  const request = strict ? operation.request : (lenientRequest ?? operation.request);
  const parameters = ['version', ...(path.includes('{id}') ? ['id'] : []), ...(isPaged ? ['limit', 'cursor'] : [])];
  return {
    operationId,
    summary,
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(request !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(request, 'input') } } },
    }),
    responses: {
      ...Object.fromEntries(refusals.map((status) => [status, { $ref: '#/components/responses/Refusal' }])),
      ...Object.fromEntries(Object.entries(answers).map(([status, bodies]) => [status, describeAnswer(bodies)])),
    },
  };
}

function describeAnswer(bodies: readonly z.ZodType[]): object {
  const schemas = bodies.map((body) => schemaOf(body, 'output'));
  if (schemas.length === 0) return { description: 'Done' };
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  return { description: 'JSON', content: { 'application/json': { schema } } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io });
  return described;
}
