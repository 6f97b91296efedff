/** Which operation can follow which, and what it takes from the answer or the request before: the links of the description. */
import type { OperationName } from '../routing/operations.ts';

export interface Link {
  readonly operationId: OperationName;
  readonly description: string;
  /** Runtime expressions of OpenAPI, by parameter. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Members of the next request's body, as runtime expressions. OpenAPI has room for a whole body only. */
  readonly 'x-bodyMembers'?: Readonly<Record<string, string>>;
}

type Links = Readonly<Record<string, Link>>;

const withId = { id: '$response.body#/id' } as const;
const withIdOfPath = { id: '$request.path.id' } as const;
const withSlug = { configId: '$response.body#/slug' } as const;

const ofTask: Links = {
  task: { operationId: 'retrieveTask', description: 'Reads the task that was created', parameters: withId },
  cancel: { operationId: 'deleteTask', description: 'Cancels or deletes it', parameters: withId },
};

const ofRouter: Links = {
  self: { operationId: 'retrieveRouter', description: 'Reads it', parameters: withId },
  update: { operationId: 'updateRouter', description: 'Changes it', parameters: withId },
  delete: { operationId: 'deleteRouter', description: 'Deletes it', parameters: withId },
  requests: { operationId: 'listRequests', description: 'Lists what it routed', parameters: withId },
  video: { operationId: 'generateVideo', description: 'Routes video by it', 'x-bodyMembers': withSlug },
  image: { operationId: 'generateImage', description: 'Routes an image by it', 'x-bodyMembers': withSlug },
  audio: { operationId: 'generateAudio', description: 'Routes audio by it', 'x-bodyMembers': withSlug },
};

function nextPage(operationId: OperationName, parameters: Readonly<Record<string, string>> = {}): Links {
  const cursor = '$response.body#/nextCursor';
  return {
    next: { operationId, description: 'The next page, unless it is null', parameters: { ...parameters, cursor } },
  };
}

/** Of the answer 200. */
export const links: Readonly<Partial<Record<OperationName, Links>>> = {
  createRouter: ofRouter,
  retrieveRouter: ofRouter,
  updateRouter: ofRouter,
  listRouters: {
    first: {
      operationId: 'retrieveRouter',
      description: 'Reads the newest',
      parameters: { id: '$response.body#/data/0/id' },
    },
    ...nextPage('listRouters'),
  },
  listRequests: {
    task: {
      operationId: 'retrieveTask',
      description: 'Reads the task of the newest record, unless that made none',
      parameters: { id: '$response.body#/data/0/taskId' },
    },
    ...nextPage('listRequests', withIdOfPath),
  },
  generateVideo: ofTask,
  generateImage: ofTask,
  generateAudio: ofTask,
};
