/** Where agents find the emulator. What answers them is loaded when the first one asks: the agent embeds the emulator. */
import type { Database } from 'better-sqlite3';
import type { Context } from 'hono';
import type { App, EmulatorEnv } from '../routes.ts';
import type { Routing } from '../routing/routing.ts';
import type { AgentTools } from './agent-tools.ts';

export interface AgentToolsContext {
  readonly routing: Routing;
  /** Keeps clients, grants and tokens as long as it lives. */
  readonly database: Database;
  /** What the emulator listens at; loopback names are always its own. */
  readonly host: string | undefined;
}

const paths = [
  '/mcp',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/register',
  '/authorize',
  '/authorize/:uid',
  '/interaction/:uid',
  '/token',
  '/revoke',
  '/jwks',
];

/** As the library's own. */
const bytesMax = 4 * 1024 * 1024;

export function serveAgentTools(app: App, context: AgentToolsContext): void {
  let loading: Promise<AgentTools> | undefined;
  const load = async (): Promise<AgentTools> => {
    const module = await import('./agent-tools.ts');
    return new module.AgentTools(context);
  };
  for (const path of paths) app.all(path, (request) => answer(request, () => (loading ??= load())));
}

async function answer(context: Context<EmulatorEnv>, load: () => Promise<AgentTools>): Promise<Response> {
  const exchange = context.get('exchange');
  const chunks: Uint8Array[] = [];
  const refusal = await exchange.receive((chunk) => chunks.push(chunk), bytesMax);
  return exchange.settle(async () => {
    if (refusal !== undefined) return refusal;
    const tools = await load();
    return tools.answer({
      request: context.req.raw,
      body: new Uint8Array(Buffer.concat(chunks)),
      applied: () => {
        exchange.record.applied = true;
      },
    });
  });
}
