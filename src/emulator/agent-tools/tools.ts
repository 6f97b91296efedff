/** The agent tools: account, models, routers and tasks. */
import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import type { CallToolResult, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { routerCreateSchema } from '../../contract/routing-resources.ts';
import {
  routerDescriptionSchema,
  routerNameSchema,
  settingsCreateSchema,
  strictSettingsCreateSchema,
} from '../../contract/routing-settings.ts';
import { pageOf } from '../routing/pages.ts';
import { invalid, notFound, Refusal } from '../routing/refusal.ts';
import { viewRouter } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { endpoints, modelsAt, viewModel } from './models.ts';
import { account, project } from './scopes.ts';
import type { ToolScope } from './scopes.ts';

export interface ToolsContext {
  readonly routing: Routing;
  /** The address at which the client found the emulator, without a trailing slash. */
  readonly origin: string;
  /** @throws where the tool must not act any more. */
  readonly checkUnderWay: () => void;
  /** To be called if the tool has carried out a change. */
  readonly applied: () => void;
}

interface Tool<Input extends z.ZodObject> {
  readonly description: string;
  readonly scope: ToolScope;
  readonly input: Input;
  /** @throws Refusal */
  readonly act: (input: z.output<Input>) => object;
}

type AddTool = <Input extends z.ZodObject>(name: string, tool: Tool<Input>) => void;

/** Builds the MCP server for one request. */
export function buildToolServer(context: ToolsContext): McpServer {
  const server = new McpServer({ name: 'driver-sync-emulator', version: '1.0.0' });
  const add: AddTool = (name, { description, scope, input, act }) => {
    server.registerTool(
      name,
      {
        description,
        inputSchema: describing(input),
        annotations: { readOnlyHint: scope === 'mcp:read', openWorldHint: false },
        scopeChallenge: requireScopes(scope),
      },
      (given) =>
        resultOf(() => {
          context.checkUnderWay();
          return act(readArguments(input, given));
        }),
    );
  };
  addAccountTools(add, context);
  addRouterTools(add, context);
  addRouterChanges(add, context);
  addTaskTools(add, context);
  return server;
}

/**
 * A schema that describes its input and accepts anything. The library would refuse in prose, without status and issues;
 * `readArguments` refuses with the same body as REST.
 */
function describing(input: z.ZodObject): StandardSchemaWithJSON {
  return { '~standard': { ...input['~standard'], validate: (value) => ({ value }) } };
}

/** @throws Refusal 400 */
function readArguments<Input extends z.ZodObject>(input: Input, given: unknown): z.output<Input> {
  const read = input.safeParse(given);
  if (!read.success) throw invalid(read.error.issues);
  return read.data;
}

/** The result, or the refusal with its status, as structured content and as JSON text. */
function resultOf(act: () => object): CallToolResult {
  try {
    return answerOf(act());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...answerOf({ status: error.status, ...error.body }), isError: true };
  }
}

function answerOf(value: object): CallToolResult {
  const text = JSON.stringify(value);
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) as Record<string, unknown> };
}

const projectId = z.uuid().optional().describe('Default: the only project there is');
const routerId = z.uuid().describe('The id of a router, not its slug');
const taskId = z.uuid();

/** @throws Refusal 404 */
function checkProject(id: string | undefined): void {
  if (id !== undefined && id !== project.id) throw notFound('there is no project with this id');
}

function addAccountTools(add: AddTool, { routing }: ToolsContext): void {
  add('whoami', {
    description: 'Who is logged in',
    scope: 'mcp:read',
    input: z.strictObject({}),
    act: () => account,
  });
  add('list_projects', {
    description: 'Lists the projects of the account',
    scope: 'mcp:read',
    input: z.strictObject({}),
    act: () => ({ projects: [project] }),
  });
  add('list_models', {
    description: 'Lists the models that routers can choose from, what they take and what they cost in credits',
    scope: 'mcp:read',
    input: z.strictObject({
      projectId,
      endpoint: z.enum(endpoints).optional().describe('Only the models that this endpoint can use'),
    }),
    act(input) {
      checkProject(input.projectId);
      const { models } = routing.catalog;
      return { models: (input.endpoint === undefined ? models : modelsAt(input.endpoint, models)).map(viewModel) };
    },
  });
  add('get_credit_balance', {
    description: 'Reads the credit balance of a project',
    scope: 'mcp:read',
    input: z.strictObject({ projectId }),
    act(input) {
      checkProject(input.projectId);
      return { projectId: project.id, creditBalance: routing.organization().creditBalance };
    },
  });
}

function addRouterTools(add: AddTool, { routing: { routers } }: ToolsContext): void {
  add('list_model_routers', {
    description: 'Lists routers, newest first',
    scope: 'mcp:read',
    input: z.strictObject({
      projectId,
      limit: z.int().min(1).max(100).optional(),
      cursor: z.string().optional().describe('nextCursor of the page before'),
    }),
    act({ limit, cursor, ...input }) {
      checkProject(input.projectId);
      const page = pageOf(routers.all(), 'routers', { limit: limit === undefined ? limit : String(limit), cursor });
      const { data, hasMore, nextCursor } = page;
      return { routers: data.map(viewRouter), hasMore, nextCursor };
    },
  });
  add('get_model_router', {
    description: 'Reads a router',
    scope: 'mcp:read',
    input: z.strictObject({ projectId, routerId }),
    act(input) {
      checkProject(input.projectId);
      return viewRouter(routers.get(input.routerId));
    },
  });
}

function addRouterChanges(add: AddTool, { routing: { routers, strict }, applied }: ToolsContext): void {
  const settings = strict ? strictSettingsCreateSchema : settingsCreateSchema;
  add('create_model_router', {
    description: 'Creates a router; its slug is the configId of requests',
    scope: 'mcp:write',
    input: routerCreateSchema.extend({ projectId, settings: settings.optional() }),
    act({ projectId: inProject, ...input }) {
      checkProject(inProject);
      const router = routers.create(input);
      applied();
      return viewRouter(router);
    },
  });
  add('update_model_router', {
    description: 'Replaces the settings of a router and makes a new version; what is left out goes back to its default',
    scope: 'mcp:write',
    input: z.strictObject({
      projectId,
      routerId,
      name: routerNameSchema.optional(),
      description: routerDescriptionSchema.nullable().optional(),
      settings,
    }),
    act({ projectId: inProject, routerId: id, ...change }) {
      checkProject(inProject);
      const before = routers.get(id);
      const router = routers.replace(before, change);
      if (router !== before) applied();
      return viewRouter(router);
    },
  });
  add('delete_model_router', {
    description: 'Deletes a router; its tasks stay, and its slug is free again',
    scope: 'mcp:write',
    input: z.strictObject({ projectId, routerId }),
    act(input) {
      checkProject(input.projectId);
      routers.remove(routers.get(input.routerId));
      applied();
      return { id: input.routerId, deleted: true };
    },
  });
}

function addTaskTools(add: AddTool, { routing, origin }: ToolsContext): void {
  add('get_task', {
    description: 'Reads a task',
    scope: 'mcp:read',
    input: z.strictObject({ projectId, taskId }),
    act(input) {
      checkProject(input.projectId);
      return routing.viewTask(routing.task(input.taskId), origin);
    },
  });
  add('get_task_routing', {
    description: 'Says why a task has the model that it has: the record of the request that was routed',
    scope: 'mcp:read',
    input: z.strictObject({ projectId, taskId }),
    act(input) {
      checkProject(input.projectId);
      const record = routing.log.ofTask(input.taskId);
      if (record === undefined) throw notFound('no routed request has made a task with this id');
      return record;
    },
  });
}
