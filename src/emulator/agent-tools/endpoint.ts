/**
 * Routes of the agent tools. Their code is loaded on the first request. It needs packages that are optional peers, since a
 * daemon that embeds the emulator works without them.
 */
import type { Context } from 'hono';
import { refuse } from '../answers.ts';
import { originOf, route } from '../routes.ts';
import type { App, EmulatorEnv, Handler } from '../routes.ts';
import type { AgentTools, AgentToolsContext } from './agent-tools.ts';

/** Methods by path; `/mcp` checks its own. Browsers send OPTIONS before a request from another origin. */
const methods: Readonly<Record<string, readonly string[]>> = {
  '/.well-known/oauth-protected-resource': ['GET', 'OPTIONS'],
  '/.well-known/oauth-protected-resource/mcp': ['GET', 'OPTIONS'],
  '/.well-known/oauth-authorization-server': ['GET', 'OPTIONS'],
  '/.well-known/openid-configuration': ['GET', 'OPTIONS'],
  '/register': ['POST'],
  '/authorize': ['GET'],
  '/authorize/:uid': ['GET'],
  '/interaction/:uid': ['GET', 'POST'],
  '/token': ['POST', 'OPTIONS'],
  '/revoke': ['POST', 'OPTIONS'],
  '/jwks': ['GET', 'OPTIONS'],
};

/** The limit of the MCP library. */
const bytesMax = 4 * 1024 * 1024;

export function serveAgentTools(app: App, context: AgentToolsContext): void {
  let loading: Promise<AgentTools> | undefined;
  const load = async (): Promise<AgentTools> => {
    const module = await import('./agent-tools.ts');
    return new module.AgentTools(context);
  };
  const handler: Handler = (request) => answer(request, () => (loading ??= load()));
  app.all('/mcp', handler);
  for (const [path, allowed] of Object.entries(methods)) {
    route(app, path, Object.fromEntries(allowed.map((method) => [method, handler])));
  }
}

async function answer(context: Context<EmulatorEnv>, load: () => Promise<AgentTools>): Promise<Response> {
  const exchange = context.get('exchange');
  const chunks: Uint8Array[] = [];
  const refusal = await exchange.receive((chunk) => chunks.push(chunk), { bytesMax });
  return exchange.settle(async () => {
    if (refusal !== undefined) return refusal;
    const tools = await load().catch(refusalWithoutPackages);
    if (tools instanceof Response) return tools;
    exchange.checkUnderWay();
    return tools.answer({
      request: requestAt(originOf(context), context.req.raw),
      body: new Uint8Array(Buffer.concat(chunks)),
      checkUnderWay: () => exchange.checkUnderWay(),
      applied: () => {
        exchange.record.applied = true;
      },
    });
  });
}

/** The request as the address that clients are given has it. Its body was received before. */
function requestAt(origin: string, request: Request): Request {
  const url = new URL(request.url);
  if (url.origin === origin) return request;
  const { method, signal } = request;
  const headers = new Headers(request.headers);
  headers.set('host', new URL(origin).host);
  return new Request(new URL(url.pathname + url.search, origin), { method, headers, signal });
}

/** With the major versions of package.json. */
const packages = ['@modelcontextprotocol/server@2', 'oidc-provider@9', 'fetch-to-node@2'];

/** The answer where a package is missing. @throws every other failure. */
function refusalWithoutPackages(error: unknown): Response {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  const [, missing] = (isMissing && /package '([^']+)'/.exec(error.message)) || [];
  if (missing === undefined) throw error;
  const command = `npm install ${packages.join(' ')}`;
  return refuse(501, `the agent tools need the package ${missing}: ${command}, then start the emulator again`);
}
