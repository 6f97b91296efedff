/** Helpers for tests of the agent tools: a browser without a window, and an agent that logs in with it. */
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';

export const redirectUri = 'http://127.0.0.1:9/callback';

type Decision = 'allow' | 'deny';

/** Follows redirects and keeps cookies, as far as logging in needs it. */
export interface Browser {
  /** Sends one request, with `form` if it is given. */
  readonly open: (url: string, form?: URLSearchParams) => Promise<Response>;
  /** Opens the consent page and submits its form. Returns the address that the client is sent back to. */
  readonly decide: (authorizationUrl: string, decision: Decision) => Promise<URL>;
}

export function browser(): Browser {
  const cookies = new Map<string, { value: string; path: string }>();
  const open: Browser['open'] = async (url, form) => {
    const { pathname } = new URL(url);
    const sent = [...cookies].filter(([, { path }]) => pathname.startsWith(path));
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, { value, path: /path=([^;]+)/i.exec(cookie)?.[1] ?? '/' });
    }
    return response;
  };
  return {
    open,
    async decide(authorizationUrl, decision) {
      const consentUrl = locationOf(await open(authorizationUrl), authorizationUrl);
      const page = await open(consentUrl);
      expect(await page.text()).toContain(`name="decision" value="${decision}"`);
      const resumeUrl = locationOf(await open(consentUrl, new URLSearchParams({ decision })), consentUrl);
      return new URL(locationOf(await open(resumeUrl), resumeUrl));
    },
  };
}

function locationOf(response: Response, base: string): string {
  const location = response.headers.get('location');
  expect({ status: response.status, location }).toEqual({ status: 303, location: expect.any(String) });
  return new URL(location ?? '', base).href;
}

/** Storage that the official client asks its host program for. */
type Keeper = OAuthClientProvider & {
  authorizationUrl: string | undefined;
  kept: { tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>> };
};

function keeperFor(scope: string | undefined): Keeper {
  let client: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  let discovery: OAuthDiscoveryState | undefined;
  let verifier = '';
  const keeper: Keeper = {
    authorizationUrl: undefined,
    kept: { tokens: undefined },
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: 'A tested agent',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(scope !== undefined && { scope }),
    },
    state: () => 'a-state',
    clientInformation: () => client,
    saveClientInformation: (given) => {
      client = given;
    },
    tokens: () => keeper.kept.tokens,
    saveTokens: (given) => {
      keeper.kept.tokens = given;
    },
    redirectToAuthorization: (url) => {
      keeper.authorizationUrl = url.href;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (given) => {
      discovery = given;
    },
    discoveryState: () => discovery,
  };
  return keeper;
}

export interface Agent {
  readonly client: Client;
  /** As the client keeps them. */
  readonly kept: Keeper['kept'];
  /** Calls a tool and returns its structured content, which must equal its text. */
  readonly call: (name: string, input?: Record<string, unknown>) => Promise<Result>;
}

export interface Result {
  readonly isError: boolean;
  // Results have many shapes.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly content: any;
}

export interface LoginOptions {
  /** The scope that it asks for. Default: all that the emulator offers. */
  readonly scope?: string;
  /** `legacy`: the protocol up to 2025-11-25, as most clients speak it. `auto`: the newest that both sides know. */
  readonly mode?: 'legacy' | 'auto';
}

/** Connects the official client, from discovery to login. */
export async function loggedIn(emulator: Emulator, { scope, mode = 'legacy' }: LoginOptions = {}): Promise<Agent> {
  const keeper = keeperFor(scope);
  const url = new URL('/mcp', emulator.url);
  const first = new StreamableHTTPClientTransport(url, { authProvider: keeper });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(first)).rejects.toThrow(UnauthorizedError);
  const back = await browser().decide(authorizationUrlOf(keeper, scope), 'allow');
  expect(back.href.startsWith(`${redirectUri}?`)).toBe(true);
  await first.finishAuth(back.searchParams);

  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: keeper, onInsufficientScope: 'throw' }));
  onTestFinished(() => client.close());
  return {
    client,
    kept: keeper.kept,
    async call(name, input = {}) {
      const result = await client.callTool({ name, arguments: input });
      const [content] = result.content;
      const text = content?.type === 'text' ? content.text : '';
      if (result.structuredContent === undefined) return { isError: result.isError === true, content: text };
      expect(JSON.parse(text)).toEqual(result.structuredContent);
      return { isError: result.isError === true, content: result.structuredContent };
    },
  };
}

/** The client asks for all scopes, so a smaller scope is set here. */
function authorizationUrlOf({ authorizationUrl = '' }: Keeper, scope: string | undefined): string {
  const url = new URL(authorizationUrl);
  if (scope !== undefined) url.searchParams.set('scope', scope);
  return url.href;
}
