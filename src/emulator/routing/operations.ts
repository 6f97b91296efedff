/** The REST operations of model routing. Routes and the interface description are both made from this table. */
import type { z } from 'zod';
import { dryRunAnswerSchema, generateAnswerSchema, noEligibleModelSchema } from '../../contract/routing-answers.ts';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../contract/routing-inputs.ts';
import {
  errorSchema,
  organizationSchema,
  routedRequestPageSchema,
  routerCreateSchema,
  routerPageSchema,
  routerSchema,
  routerUpdateSchema,
  strictRouterCreateSchema,
  strictRouterUpdateSchema,
  taskSchema,
  uploadCreateSchema,
  uploadSchema,
  usageQuerySchema,
  usageSchema,
} from '../../contract/routing-resources.ts';

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With a parameter as `{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly isPaged?: true;
  readonly request?: z.ZodType;
  /** Replaces `request` if the emulator is not strict. */
  readonly lenientRequest?: z.ZodType;
  /** Bodies by status. Several are alternatives; 204 has none. */
  readonly answers: Readonly<Record<number, readonly z.ZodType[]>>;
}

const error = [errorSchema];

function generateOperation(modality: keyof typeof generateRequestSchemas) {
  return {
    method: 'POST',
    path: `/v1/generate/${modality}`,
    summary: `Routes a request for ${modality} to a model, and creates its task unless it is a dry run`,
    request: generateRequestSchemas[modality],
    lenientRequest: lenientGenerateRequestSchemas[modality],
    answers: {
      200: [generateAnswerSchema, dryRunAnswerSchema],
      400: [noEligibleModelSchema, errorSchema],
      404: error,
      429: error,
    },
  } as const satisfies Operation;
}

export const operations = {
  createRouter: {
    method: 'POST',
    path: '/v1/routers',
    summary: 'Creates a router',
    request: strictRouterCreateSchema,
    lenientRequest: routerCreateSchema,
    answers: { 200: [routerSchema], 400: error, 409: error },
  },
  listRouters: {
    method: 'GET',
    path: '/v1/routers',
    summary: 'Lists routers, newest first',
    isPaged: true,
    answers: { 200: [routerPageSchema], 400: error },
  },
  retrieveRouter: {
    method: 'GET',
    path: '/v1/routers/{id}',
    summary: 'Reads a router',
    answers: { 200: [routerSchema], 404: error },
  },
  updateRouter: {
    method: 'PATCH',
    path: '/v1/routers/{id}',
    summary: 'Changes what is named of a router',
    request: strictRouterUpdateSchema,
    lenientRequest: routerUpdateSchema,
    answers: { 200: [routerSchema], 400: error, 404: error },
  },
  deleteRouter: {
    method: 'DELETE',
    path: '/v1/routers/{id}',
    summary: 'Deletes a router; its tasks stay',
    answers: { 204: [], 404: error },
  },
  listRequests: {
    method: 'GET',
    path: '/v1/routers/{id}/requests',
    summary: 'Lists the routed requests of a router, newest first',
    isPaged: true,
    answers: { 200: [routedRequestPageSchema], 400: error, 404: error },
  },
  generateVideo: generateOperation('video'),
  generateImage: generateOperation('image'),
  generateAudio: generateOperation('audio'),
  retrieveTask: {
    method: 'GET',
    path: '/v1/tasks/{id}',
    summary: 'Reads a task',
    answers: { 200: [taskSchema], 404: error },
  },
  deleteTask: {
    method: 'DELETE',
    path: '/v1/tasks/{id}',
    summary: 'Cancels a task, or deletes one that has ended',
    answers: { 204: [], 404: error },
  },
  retrieveOrganization: {
    method: 'GET',
    path: '/v1/organization',
    summary: 'Reads limits, the credit balance and the generations of the last day',
    answers: { 200: [organizationSchema] },
  },
  queryUsage: {
    method: 'POST',
    path: '/v1/organization/usage',
    summary: 'Credits used by day and model',
    request: usageQuerySchema,
    answers: { 200: [usageSchema], 400: error },
  },
  createUpload: {
    method: 'POST',
    path: '/v1/uploads',
    summary: 'Asks for a place to post a file to',
    request: uploadCreateSchema,
    answers: { 200: [uploadSchema], 400: error },
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;
