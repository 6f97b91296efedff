/** REST routes of model routing: routers, generation, tasks, the routing log, the organization and uploads. */
import { answerJson } from '../answers.ts';
import type { FaultQueue } from '../faults.ts';
import { route } from '../routes.ts';
import type { App, Handler } from '../routes.ts';
import {
  routerCreateSchema,
  routerUpdateSchema,
  strictRouterCreateSchema,
  strictRouterUpdateSchema,
  uploadCreateSchema,
  usageQuerySchema,
} from '../../contract/routing-resources.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import { serveRoutingControls } from './controls.ts';
import { receiveGeneration } from './generate.ts';
import { serveMedia } from './media.ts';
import { operations } from './operations.ts';
import type { OperationName } from './operations.ts';
import type { Page } from './pages.ts';
import { pageOf } from './pages.ts';
import { viewRouter } from './routers.ts';
import type { Router } from './routers.ts';
import type { Routing } from './routing.ts';
import { acting, answerOf, arriving, checkVersion } from './wire.ts';
import type { Call } from './wire.ts';

interface RoutingContext {
  readonly routing: Routing;
  readonly faults: FaultQueue;
}

export function serveRouting(app: App, { routing, faults }: RoutingContext): void {
  checkVersion(app, routing);
  const handlers: Record<OperationName, Handler> = {
    ...acted(routerHandlers(routing)),
    ...generateHandlers(routing, faults),
    ...acted(taskHandlers(routing)),
    ...acted(accountHandlers(routing)),
  };
  const paths = new Map<string, Record<string, Handler>>();
  for (const name of Object.keys(handlers) as OperationName[]) {
    const { method, path } = operations[name];
    const methods = paths.get(path) ?? {};
    methods[method] = handlers[name];
    paths.set(path, methods);
  }
  for (const [path, methods] of paths) route(app, path.replace('{id}', ':id'), methods);
  serveUploads(app, routing);
  serveMedia(app, routing);
  serveRoutingControls(app, routing);
}

type Acts = Readonly<Partial<Record<OperationName, (call: Call) => Response>>>;

function acted<Some extends Acts>(acts: Some): Record<keyof Some, Handler> {
  return Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, acting(act)])) as Record<
    keyof Some,
    Handler
  >;
}

function routerHandlers(routing: Routing) {
  const { routers, log, strict } = routing;
  const routerOf = (call: Call): Router => {
    const id = call.param('id');
    // The service's guide does not show the form of an id, and its readers know the slug.
    return strict ? routers.get(id) : routers.byIdOrSlug(id);
  };
  return {
    createRouter: (call) => {
      const router = routers.create(call.body(strict ? strictRouterCreateSchema : routerCreateSchema));
      call.applied();
      return answerJson(viewRouter(router));
    },
    listRouters: (call) => answerJson(viewPage(pageOf(routers.all(), 'routers', pageQuery(call)), viewRouter)),
    retrieveRouter: (call) => answerJson(viewRouter(routerOf(call))),
    updateRouter: (call) => {
      const before = routerOf(call);
      const router = routers.update(before, call.body(strict ? strictRouterUpdateSchema : routerUpdateSchema));
      if (router !== before) call.applied();
      return answerJson(viewRouter(router));
    },
    deleteRouter: (call) => {
      routers.remove(routerOf(call));
      call.applied();
      return new Response(null, { status: 204 });
    },
    listRequests: (call) => {
      const { id } = routerOf(call);
      const page = pageOf(log.ofRouter(id), `requests of ${id}`, pageQuery(call));
      return answerJson(viewPage(page, ({ record }) => record));
    },
  } satisfies Acts;
}

function pageQuery(call: Call): { limit: string | undefined; cursor: string | undefined } {
  return { limit: call.query('limit'), cursor: call.query('cursor') };
}

function viewPage<Row, View>({ data, ...page }: Page<Row>, view: (row: Row) => View): object {
  return { data: data.map(view), ...page };
}

function generateHandlers(routing: Routing, faults: FaultQueue) {
  const handlerOf = (name: OperationName, modality: Modality): Handler =>
    arriving((call) => {
      const { requestId } = call.exchange;
      const orderedEnding = () => faults.takeEnding(operations[name]);
      const generate = receiveGeneration(routing, { modality, body: call.json(), requestId, orderedEnding });
      return () => {
        const answer = generate();
        if ('id' in answer) call.applied();
        return answerJson(answer);
      };
    });
  return {
    generateVideo: handlerOf('generateVideo', 'video'),
    generateImage: handlerOf('generateImage', 'image'),
    generateAudio: handlerOf('generateAudio', 'audio'),
  };
}

function taskHandlers(routing: Routing) {
  return {
    retrieveTask: (call) => answerJson(routing.viewTask(routing.task(call.param('id')), call.origin)),
    deleteTask: (call) => {
      routing.tasks.remove(routing.task(call.param('id')));
      call.applied();
      return new Response(null, { status: 204 });
    },
  } satisfies Acts;
}

function accountHandlers(routing: Routing) {
  return {
    retrieveOrganization: () => answerJson(routing.organization()),
    queryUsage: (call) => {
      const query = call.body(usageQuerySchema);
      routing.tasks.settle();
      return answerJson(routing.account.usage(query, routing.clock.now()));
    },
    createUpload: (call) => {
      const { filename } = call.body(uploadCreateSchema);
      const upload = routing.uploads.create(filename, call.origin);
      call.applied();
      return answerJson(upload);
    },
  } satisfies Acts;
}

const uploadBytesMax = 200 * 1024 * 1024;

/** The address that `POST /v1/uploads` names for the file. The live service uses another host for it. */
function serveUploads(app: App, { uploads }: Routing): void {
  route(app, '/uploads/:id', {
    POST: async (context) => {
      const exchange = context.get('exchange');
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      const refusal = await exchange.receive((chunk) => chunks.push(chunk as Uint8Array<ArrayBuffer>), {
        bytesMax: uploadBytesMax,
      });
      return exchange.settle(async () => {
        if (refusal !== undefined) return refusal;
        const form = new Response(new Blob(chunks), {
          headers: { 'content-type': context.req.header('content-type') ?? '' },
        });
        try {
          await uploads.receive(context.req.param('id') ?? '', form, () => exchange.checkUnderWay());
        } catch (error) {
          return answerOf(error);
        }
        exchange.record.applied = true;
        return new Response(null, { status: 204 });
      });
    },
  });
}
