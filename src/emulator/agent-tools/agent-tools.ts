/** HTTP of the agent tools: MCP over streamable HTTP at `/mcp`, and the login for it. */
import { isUtf8 } from 'node:buffer';
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import type { Database } from 'better-sqlite3';
import type { Routing } from '../routing/routing.ts';
import { Authorization } from './authorization.ts';
import { LoginStore } from './login-store.ts';
import { toolScopes } from './scopes.ts';
import { buildToolServer } from './tools.ts';

/** Each name and port at which the emulator is reached has its own issuer; the oldest one is dropped beyond this many. */
const originsMax = 16;

const takesJson: ReadonlySet<string> = new Set(['/mcp', '/register']);

/**
 * Stands for a body that is not UTF-8. The libraries would take it with other letters in it; so each refuses it in its own
 * words and in the order of its checks.
 */
const notJson = Uint8Array.from(Buffer.from('{'));

export interface AgentToolsContext {
  readonly routing: Routing;
  /** Keeps clients, grants and tokens as long as it lives. */
  readonly database: Database;
  /** Whether pages of another origin may use the tools and their login. */
  readonly isOriginAllowed: (origin: string) => boolean;
}

export interface ToolRequest {
  readonly request: Request;
  readonly body: Uint8Array<ArrayBuffer>;
  /** @throws ConnectionDropped where the request must not act any more. */
  readonly checkUnderWay: () => void;
  /** To be called if the request has carried out a change. */
  readonly applied: () => void;
}

export class AgentTools {
  readonly #context: AgentToolsContext;
  readonly #store: LoginStore;
  readonly #authorizations = new Map<string, Authorization>();

  constructor(context: AgentToolsContext) {
    this.#context = context;
    this.#store = new LoginStore(context.database);
  }

  async answer(received: ToolRequest): Promise<Response> {
    const { request } = received;
    const { origin, pathname } = new URL(request.url);
    const body = takesJson.has(pathname) && !isUtf8(received.body) ? notJson : received.body;
    const authorization = this.#authorizationAt(origin);
    if (pathname === '/mcp') return this.#answerTools({ ...received, body }, authorization, origin);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) return resourceMetadata(origin);
    if (pathname.startsWith('/interaction/')) return authorization.answerConsent(request, body);
    return authorization.answer(request, body);
  }

  async #answerTools({ request, body, ...calls }: ToolRequest, verifier: Authorization, origin: string) {
    const resource = resourceAt(origin);
    const authInfo = await requireBearerAuth({
      verifier,
      expectedResource: resource,
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
    })(request);
    if (authInfo instanceof Response) return authInfo;
    const { routing } = this.#context;
    const { url, method, headers, signal } = request;
    // Clients have nothing to subscribe to, so the handler need not outlive the request.
    const handler = createMcpHandler(() => buildToolServer({ routing, origin, ...calls }), { keepAliveMs: 0 });
    return handler.fetch(new Request(url, { method, headers, signal, body: body.length > 0 ? body : null }), {
      authInfo,
    });
  }

  #authorizationAt(origin: string): Authorization {
    const known = this.#authorizations.get(origin);
    if (known !== undefined) return known;
    const authorization = new Authorization({
      origin,
      resource: resourceAt(origin),
      store: this.#store,
      isOriginAllowed: this.#context.isOriginAllowed,
    });
    const [oldest] = this.#authorizations.keys();
    if (this.#authorizations.size >= originsMax && oldest !== undefined) this.#authorizations.delete(oldest);
    this.#authorizations.set(origin, authorization);
    return authorization;
  }
}

function resourceAt(origin: string): URL {
  return new URL('/mcp', origin);
}

/** The metadata of RFC 9728. */
function resourceMetadata(origin: string): Response {
  return Response.json(
    {
      resource: resourceAt(origin).href,
      resource_name: 'driver-sync emulator',
      authorization_servers: [origin],
      scopes_supported: toolScopes,
      bearer_methods_supported: ['header'],
    },
    { headers: { 'access-control-allow-origin': '*' } },
  );
}
