/** The interface as OpenAPI 3.1, made of the schemas that requests are checked by. */
import { z } from 'zod';
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { errorSchema } from '../../contract/routing-resources.ts';
import { updateSchema } from '../../contract/driver-push.ts';
import { updatePath } from '../../contract/update-path.ts';
import type { Operation, OperationName } from '../routing/operations.ts';
import { operations } from '../routing/operations.ts';
import { links } from './links.ts';
import type { Link } from './links.ts';

export interface OpenApiOptions {
  readonly strict: boolean;
  /** Whether a token was set, which both areas then require. */
  readonly hasToken: boolean;
  /** Where clients find the emulator. */
  readonly origin: string;
}

/** Every operation may refuse an unknown version (400), a body that is too long (413) or an unknown content coding (415). */
const refusalStatuses = [400, 413, 415];

export function openApiOf({ strict, hasToken, origin }: OpenApiOptions): object {
  // The driver push has no strict manner.
  const needsKey = strict || hasToken;
  const refusals = needsKey ? [...refusalStatuses, 401] : refusalStatuses;
  const paths: ZodOpenApiPathsObject = {};
  for (const [operationId, operation] of Object.entries<Operation>(operations)) {
    const path = (paths[operation.path] ??= {});
    path[lowerCaseOf(operation.method)] = {
      operationId,
      ...describe(operation, { strict, refusals, links: links[operationId as OperationName] ?? {} }),
    };
  }
  paths[updatePath] = { post: { operationId: 'pushDrivers', ...describePush(hasToken) } };
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Model routing and driver push, as driver-sync emulates them',
      version: '2024-11-06',
      description: 'Made of the schemas that requests are checked by.',
    },
    servers: [{ url: origin }],
    security: securityOf(needsKey),
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
  /** Of the answer 200. */
  readonly links: Readonly<Record<string, Link>>;
}

function securityOf(needsKey: boolean): Record<string, string[]>[] {
  return needsKey ? [{ ApiKeyAuth: [] }] : [{}, { ApiKeyAuth: [] }];
}

/** A refusal of the driver push, whose places are text. */
const pushRefusalSchema = z.strictObject({
  error: z.string(),
  issues: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
});

function describePush(hasToken: boolean): ZodOpenApiOperationObject {
  const refusal = { ...describeAnswer([pushRefusalSchema]), description: 'Refused, and nothing is applied' };
  const statuses = ['400', '413', '415', ...(hasToken ? ['401'] : [])];
  return {
    summary: 'Writes drivers, and deletes what the request leaves out if it says so',
    security: securityOf(hasToken),
    requestBody: { required: true, content: { 'application/json': { schema: updateSchema } } },
    responses: {
      200: { description: 'Applied; the body is empty' },
      ...Object.fromEntries(statuses.map((status) => [status, refusal])),
    },
  };
}

function describe(operation: Operation, { strict, refusals, links: following }: Manner): ZodOpenApiOperationObject {
  const { path, summary, isPaged, lenientRequest, answers } = operation;
  const request = strict ? operation.request : (lenientRequest ?? operation.request);
  const parameters = ['version', ...(path.includes('{id}') ? ['id'] : []), ...(isPaged ? ['limit', 'cursor'] : [])];
  return {
    summary,
    parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(request !== undefined && {
      // No body counts as `{}`.
      requestBody: { required: !request.safeParse({}).success, content: { 'application/json': { schema: request } } },
    }),
    responses: {
      ...Object.fromEntries(refusals.map((status) => [status, { $ref: '#/components/responses/Refusal' }])),
      ...Object.fromEntries(
        Object.entries(answers).map(([status, bodies]) => {
          const isLinked = status === '200' && Object.keys(following).length > 0;
          return [status, { ...describeAnswer(bodies), ...(isLinked && { links: { ...following } }) }];
        }),
      ),
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
