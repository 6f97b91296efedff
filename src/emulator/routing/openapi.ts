/** The routing interface as OpenAPI 3.1, made of the schemas that requests are checked by. */
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
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

/** Every operation may refuse an unknown version (400), a body that is too long (413) or an unknown content coding (415). */
const refusalStatuses = [400, 413, 415];

export function openApiOf({ strict, needsKey, origin }: OpenApiOptions): object {
  const refusals = needsKey ? [...refusalStatuses, 401] : refusalStatuses;
  const paths: ZodOpenApiPathsObject = {};
  for (const [operationId, operation] of Object.entries<Operation>(operations)) {
    const path = (paths[operation.path] ??= {});
    path[lowerCaseOf(operation.method)] = { operationId, ...describe(operation, { strict, refusals }) };
  }
  return createDocument({
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
  });
}

interface Manner {
  readonly strict: boolean;
  /** Statuses that every operation may answer. */
  readonly refusals: readonly number[];
}

function describe(operation: Operation, { strict, refusals }: Manner): ZodOpenApiOperationObject {
  const { path, summary, isPaged, lenientRequest, answers } = operation;
  const request = strict ? operation.request : (lenientRequest ?? operation.request);
  const parameters = ['version', ...(path.includes('{id}') ? ['id'] : []), ...(isPaged ? ['limit', 'cursor'] : [])];
  return {
    summary,
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(request !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: request } } },
    }),
    responses: {
      ...Object.fromEntries(refusals.map((status) => [status, { $ref: '#/components/responses/Refusal' }])),
      ...Object.fromEntries(Object.entries(answers).map(([status, bodies]) => [status, describeAnswer(bodies)])),
    },
  };
}

/** Several bodies are alternatives. */
function describeAnswer(bodies: readonly z.ZodType[]): ZodOpenApiResponseObject {
  if (bodies.length === 0) return { description: 'Done' };
  const [only] = bodies;
  const schema = bodies.length === 1 && only !== undefined ? only : z.union(bodies);
  return { description: 'JSON', content: { 'application/json': { schema } } };
}

function lowerCaseOf<Method extends Operation['method']>(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>;
}
