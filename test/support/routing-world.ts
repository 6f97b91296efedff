/** Helpers for tests of model routing: an emulator whose time stands still, and a client that can send anything. */
import { expect } from 'vitest';
import type { z } from 'zod';
import {
  routedRequestPageSchema,
  routerPageSchema,
  routerSchema,
  taskSchema,
} from '../../src/contract/routing-resources.ts';
import type { RoutedRequest, RouterAnswer, TaskAnswer } from '../../src/contract/routing-resources.ts';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { emulatorWorld } from './emulator-world.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Answers have many shapes.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface RoutingWorld {
  readonly emulator: Emulator;
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** Creates a router, by default for the cheapest of all models. */
  readonly createRouter: (slug: string, settings?: object) => Promise<RouterAnswer>;
  readonly dryRun: (modality: string, configId: string, input: object) => Promise<Answer>;
  /** Creates a task and returns its id. */
  readonly generate: (modality: string, configId: string, input: object) => Promise<string>;
  readonly task: (id: string) => Promise<TaskAnswer>;
  /** The routing log, newest first. */
  readonly log: (routerId: string) => Promise<RoutedRequest[]>;
  readonly balance: () => Promise<number>;
}

export async function routingWorld(options: EmulatorOptions = {}): Promise<RoutingWorld> {
  return worldOf(await emulatorWorld({ speed: 0, ...options }));
}

export function worldOf(emulator: Emulator): RoutingWorld {
  const call: RoutingWorld['call'] = async (method, path, body, headers = {}) => {
    const isText = typeof body === 'string';
    const sent = body === undefined ? null : isText ? body : JSON.stringify(body);
    const response = await emulator.fetch(path, { method, body: sent, headers });
    const text = await response.text();
    // An answer to HEAD declares JSON but has no body.
    const isJson = text !== '' && response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const fine = async <Schema extends z.ZodType>(answer: Promise<Answer>, schema: Schema): Promise<z.output<Schema>> => {
    const { status, body } = await answer;
    expect({ status, body }).toMatchObject({ status: 200 });
    // Answers must match the schema of the interface description.
    return schema.parse(body);
  };
  return {
    emulator,
    call,
    createRouter: (slug, settings) => fine(call('POST', '/v1/routers', { slug, name: slug, settings }), routerSchema),
    dryRun: (modality, configId, input) => call('POST', `/v1/generate/${modality}`, { configId, input, dryRun: true }),
    async generate(modality, configId, input) {
      const { status, body } = await call('POST', `/v1/generate/${modality}`, { configId, input });
      expect({ status, body }).toMatchObject({ status: 200, body: { id: expect.any(String) } });
      return body.id;
    },
    task: (id) => fine(call('GET', `/v1/tasks/${id}`), taskSchema),
    log: async (id) => (await fine(call('GET', `/v1/routers/${id}/requests?limit=100`), routedRequestPageSchema)).data,
    balance: async () => (await call('GET', '/v1/organization')).body.creditBalance,
  };
}

export async function slugsOf(world: RoutingWorld, query = ''): Promise<string[]> {
  const { body } = await world.call('GET', `/v1/routers${query}`);
  return routerPageSchema.parse(body).data.map(({ slug }) => slug);
}

/** An id that nothing has. */
export const anyId = '4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f';

/** Every path of model routing with its methods. */
export const paths = {
  '/v1/routers': 'POST, GET, HEAD',
  [`/v1/routers/${anyId}`]: 'GET, HEAD, PATCH, DELETE',
  [`/v1/routers/${anyId}/requests`]: 'GET, HEAD',
  '/v1/generate/video': 'POST',
  '/v1/generate/image': 'POST',
  '/v1/generate/audio': 'POST',
  [`/v1/tasks/${anyId}`]: 'GET, HEAD, DELETE',
  '/v1/organization': 'GET, HEAD',
  '/v1/organization/usage': 'POST',
  '/v1/uploads': 'POST',
  [`/uploads/${anyId}`]: 'POST',
  [`/media/${anyId}/0.png`]: 'GET, HEAD',
};
