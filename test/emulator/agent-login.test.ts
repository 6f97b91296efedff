import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { browser, redirectUri } from '../support/agent-world.ts';
import { emulatorWorld, temporaryDirectory } from '../support/emulator-world.ts';

const verifier = 'a-verifier-that-is-as-long-as-the-standard-wants-it';
const challenge = createHash('sha256').update(verifier).digest('base64url');

interface Registered {
  readonly status: number;
  readonly clientId: string;
  readonly scope: string | undefined;
}

async function register(emulator: Emulator, metadata: object = {}): Promise<Registered> {
  const response = await emulator.fetch('/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: 'none', ...metadata }),
  });
  const { client_id: clientId, scope } = (await response.json()) as { client_id: string; scope?: string };
  return { status: response.status, clientId, scope };
}

function authorizationUrl(emulator: Emulator, clientId: string, changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: 'mcp:read mcp:write',
    state: 'a-state',
    ...changes,
  });
  return `${emulator.url}/authorize?${query.toString()}`;
}

async function codeFor(emulator: Emulator, clientId: string): Promise<string> {
  const back = await browser().decide(authorizationUrl(emulator, clientId), 'allow');
  return back.searchParams.get('code') ?? '';
}

interface Tokens {
  readonly status: number;
  readonly error?: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

async function tokensFor(emulator: Emulator, form: Record<string, string>): Promise<Tokens> {
  const response = await emulator.fetch('/token', { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, ...((await response.json()) as Omit<Tokens, 'status'>) };
}

function exchange(emulator: Emulator, clientId: string, code: string, changes: Record<string, string> = {}) {
  const form = { grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: redirectUri };
  return tokensFor(emulator, { ...form, code_verifier: verifier, ...changes });
}

async function loggedInByHand(emulator: Emulator): Promise<Tokens & { clientId: string }> {
  const { clientId } = await register(emulator);
  return { clientId, ...(await exchange(emulator, clientId, await codeFor(emulator, clientId))) };
}

async function callWith(emulator: Emulator, headers: Record<string, string>): Promise<Response> {
  return emulator.fetch('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
}

async function statusWith(emulator: Emulator, token: string): Promise<number> {
  return (await callWith(emulator, { authorization: `Bearer ${token}` })).status;
}

describe('a login', () => {
  test('is discovered from the refusal of a request without one', async () => {
    const emulator = await emulatorWorld();
    const refused = await callWith(emulator, {});
    expect(refused.status).toBe(401);
    const metadataUrl = `${emulator.url}/.well-known/oauth-protected-resource/mcp`;
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadataUrl}"`);
    expect(await (await fetch(metadataUrl)).json()).toMatchObject({
      resource: `${emulator.url}/mcp`,
      authorization_servers: [emulator.url],
      scopes_supported: ['mcp:read', 'mcp:write'],
    });
    const server = await emulator.fetch('/.well-known/oauth-authorization-server');
    expect(await server.json()).toMatchObject({
      issuer: emulator.url,
      registration_endpoint: `${emulator.url}/register`,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'profile', 'email', 'mcp:read', 'mcp:write'],
    });
  });

  test('that is denied comes back as access_denied', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const back = await browser().decide(authorizationUrl(emulator, clientId), 'deny');
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', state: 'a-state' });
    expect(back.searchParams.has('code')).toBe(false);
  });

  test('is asked for each time', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const own = browser();
    await own.decide(authorizationUrl(emulator, clientId), 'allow');
    const back = await own.decide(authorizationUrl(emulator, clientId), 'deny');
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  test('names the client and what it asks for, and no client can write the page', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator, { client_name: '<script>alert(1)</script>' });
    const own = browser();
    const asked = await own.open(authorizationUrl(emulator, clientId, { scope: 'mcp:read' }));
    const page = await own.open(new URL(asked.headers.get('location') ?? '', emulator.url).href);
    const html = await page.text();
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('mcp:read');
    expect(html).not.toContain('mcp:write');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('without a scope asks for what the tools take, or for what the client registered', async () => {
    const emulator = await emulatorWorld();
    for (const [metadata, granted] of [
      [{}, 'mcp:read mcp:write'],
      [{ scope: 'mcp:read' }, 'mcp:read'],
    ] as const) {
      const { clientId } = await register(emulator, metadata);
      const url = new URL(authorizationUrl(emulator, clientId));
      url.searchParams.delete('scope');
      const back = await browser().decide(url.href, 'allow');
      const tokens = await exchange(emulator, clientId, back.searchParams.get('code') ?? '');
      expect(tokens).toMatchObject({ status: 200, scope: granted });
    }
  });

  test('that asks for nothing known is refused as invalid_scope before anybody is asked', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const response = await browser().open(authorizationUrl(emulator, clientId, { scope: 'admin' }));
    const back = new URL(response.headers.get('location') ?? '', emulator.url);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
    expect(back.searchParams.get('error')).toBe('invalid_scope');
  });

  test('registers with the known scopes among those that a client names', async () => {
    const emulator = await emulatorWorld();
    const registered = await register(emulator, { scope: 'mcp:read offline_access' });
    expect(registered).toMatchObject({ status: 201, scope: 'mcp:read' });
    expect(await register(emulator, { scope: 'offline_access' })).toMatchObject({ status: 201, scope: undefined });
  });

  test('cannot be decided in another browser', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const asked = await browser().open(authorizationUrl(emulator, clientId));
    const consentUrl = new URL(asked.headers.get('location') ?? '', emulator.url).href;
    const decided = await browser().open(consentUrl, new URLSearchParams({ decision: 'allow' }));
    expect(decided.status).toBe(400);
  });

  test('needs PKCE with S256', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const url = new URL(authorizationUrl(emulator, clientId));
    for (const name of ['code_challenge', 'code_challenge_method']) url.searchParams.delete(name);
    for (const refused of [
      url.href,
      authorizationUrl(emulator, clientId, { code_challenge_method: 'plain', code_challenge: verifier }),
    ]) {
      const response = await browser().open(refused);
      const back = new URL(response.headers.get('location') ?? '', emulator.url);
      expect(back.origin).toBe('http://127.0.0.1:9');
      expect(back.searchParams.get('error')).toBe('invalid_request');
    }
  });

  test('is refused with a bad verifier, and its code is spent after one use', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const code = await codeFor(emulator, clientId);
    const bad = await exchange(emulator, clientId, code, { code_verifier: `${verifier}x` });
    expect(bad).toMatchObject({ status: 400, error: 'invalid_grant' });
    const other = await codeFor(emulator, clientId);
    expect(await exchange(emulator, clientId, other)).toMatchObject({ status: 200 });
    expect(await exchange(emulator, clientId, other)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('goes nowhere but to a redirect that was registered', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const elsewhere = 'https://elsewhere.example/callback';
    const response = await browser().open(authorizationUrl(emulator, clientId, { redirect_uri: elsewhere }));
    expect({ status: response.status, to: response.headers.get('location') }).toEqual({ status: 400, to: null });
    const code = await codeFor(emulator, clientId);
    expect(await exchange(emulator, clientId, code, { redirect_uri: elsewhere })).toMatchObject({ status: 400 });
  });

  test('registers over http for loopback redirects alone', async () => {
    const emulator = await emulatorWorld();
    for (const [redirect, status] of [
      ['http://127.0.0.1:33418/callback', 201],
      ['http://localhost:33418/callback', 201],
      ['cursor://anysphere.cursor/callback', 201],
      ['https://agent.example/callback', 201],
      ['http://agent.example/callback', 400],
      ['javascript:alert(1)', 400],
    ] as const) {
      expect(await register(emulator, { redirect_uris: [redirect] }), redirect).toMatchObject({ status });
    }
  });

  test('registers clients of type web for https redirects alone, loopback or not', async () => {
    const emulator = await emulatorWorld();
    for (const [redirects, status] of [
      [['https://agent.example/callback'], 201],
      [['http://agent.example/callback'], 400],
      [['http://127.0.0.1:33418/callback'], 400],
      [['https://agent.example/callback', 'HTTP://localhost/callback'], 400],
    ] as const) {
      const registered = await register(emulator, { application_type: 'web', redirect_uris: redirects });
      expect(registered, redirects.join(' ')).toMatchObject({ status });
    }
  });

  test('is for the tools of this emulator and no other resource', async () => {
    const emulator = await emulatorWorld();
    const { clientId } = await register(emulator);
    const url = authorizationUrl(emulator, clientId, { resource: 'https://elsewhere.example/mcp' });
    const back = new URL((await browser().open(url)).headers.get('location') ?? '');
    expect(back.searchParams.get('error')).toBe('invalid_target');
  });

  test('outlives a restart with a state directory', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    const { port } = first;
    const { access_token: token } = await loggedInByHand(first);
    await first.close();
    const again = await emulatorWorld({ state, port });
    expect(await statusWith(again, token)).toBe(200);
  });
});

describe('a token', () => {
  test('is refused when it is unknown, of another emulator, or expired', async () => {
    const emulator = await emulatorWorld();
    const { access_token: token } = await loggedInByHand(emulator);
    expect(await statusWith(emulator, token)).toBe(200);
    expect(await statusWith(emulator, 'unknown')).toBe(401);
    expect(await statusWith(await emulatorWorld(), token)).toBe(401);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 60 * 60 * 1_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(await statusWith(emulator, token)).toBe(401);
  });

  test('is bound to the address at which it was requested', async () => {
    const emulator = await emulatorWorld();
    const { access_token: token } = await loggedInByHand(emulator);
    const headers = { authorization: `Bearer ${token}` };
    const elsewhere = await fetch(`http://localhost:${emulator.port}/mcp`, { method: 'POST', headers, body: '{}' });
    expect(elsewhere.status).toBe(401);
  });

  test('is renewed with its refresh token, which is good for one time', async () => {
    const emulator = await emulatorWorld();
    const { clientId, refresh_token: refreshToken } = await loggedInByHand(emulator);
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    const renewed = await tokensFor(emulator, form);
    expect(renewed).toMatchObject({ status: 200, scope: 'mcp:read mcp:write' });
    expect(await statusWith(emulator, renewed.access_token)).toBe(200);
    expect(await tokensFor(emulator, form)).toMatchObject({ status: 400, error: 'invalid_grant' });
    // A refresh token that is used twice may be stolen, so its access token ends too.
    expect(await statusWith(emulator, renewed.access_token)).toBe(401);
  });

  test('of one client cannot be renewed by another', async () => {
    const emulator = await emulatorWorld();
    const { refresh_token: refreshToken } = await loggedInByHand(emulator);
    const { clientId } = await register(emulator);
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    expect(await tokensFor(emulator, form)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('is refused after it was revoked', async () => {
    const emulator = await emulatorWorld();
    const { clientId, access_token: token } = await loggedInByHand(emulator);
    const body = new URLSearchParams({ client_id: clientId, token });
    expect((await emulator.fetch('/revoke', { method: 'POST', body })).status).toBe(200);
    expect(await statusWith(emulator, token)).toBe(401);
  });
});

describe('a request that a page elsewhere makes', () => {
  test('is refused by its origin and by its host', async () => {
    const emulator = await emulatorWorld();
    const { access_token: token } = await loggedInByHand(emulator);
    const authorization = `Bearer ${token}`;
    const statusFrom = async (origin: string) => (await callWith(emulator, { authorization, origin })).status;
    expect(await statusFrom('https://elsewhere.example')).toBe(403);
    expect(await statusFrom('null')).toBe(403);
    expect(await statusFrom('http://localhost:6274')).toBe(403);
    expect(await statusFrom(emulator.url)).toBe(200);
    const rebound = await emulator.fetch(
      `http://elsewhere.example:${emulator.port}/.well-known/oauth-authorization-server`,
    );
    expect(rebound.status).toBe(403);
  });
});

describe('nonsense', () => {
  const paths = [
    '/mcp',
    '/register',
    '/authorize',
    '/authorize/x',
    '/authorize/%E0%A4%A',
    '/authorize?client_id=%00&redirect_uri=%ff&client_id=b',
    '/interaction/x',
    '/interaction/%E0%A4%A',
    '/token',
    '/revoke',
    '/jwks',
  ];
  const bodies = [
    ['application/json', '{'],
    ['application/json', 'null'],
    ['application/json', '{"redirect_uris":["http://127.0.0.1/"],"client_name":5,"grant_types":[{}]}'],
    ['application/x-www-form-urlencoded', 'grant_type=authorization_code&client_id=x&code=%00'],
    ['application/x-www-form-urlencoded; charset=nope', 'decision=allow'],
    ['multipart/form-data', 'x'],
  ] as const;

  test.for(paths)('is refused at %s and never a failure', async (path) => {
    const emulator = await emulatorWorld();
    const statuses: number[] = [];
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      const headers = { cookie: '_interaction=x; _session=%; =;;', authorization: 'Basic !!!' };
      statuses.push((await emulator.fetch(path, { method, headers })).status);
    }
    for (const [type, body] of bodies) {
      for (const method of ['POST', 'PUT']) {
        const sent = await emulator.fetch(path, { method, body, headers: { 'content-type': type } });
        expect(sent.status).toBeGreaterThanOrEqual(400);
        statuses.push(sent.status);
      }
    }
    expect(Math.max(...statuses)).toBeLessThan(500);
  });

  test.for([
    ['GET', '/register', 'POST'],
    ['PUT', '/token', 'POST, OPTIONS'],
    ['GET', '/revoke', 'POST, OPTIONS'],
    ['POST', '/authorize', 'GET, HEAD'],
    ['PUT', '/interaction/x', 'GET, HEAD, POST'],
    ['DELETE', '/.well-known/oauth-protected-resource/mcp', 'GET, HEAD, OPTIONS'],
  ] as const)('such as %s %s is told what there is', async ([method, path, allow]) => {
    const emulator = await emulatorWorld();
    const refused = await emulator.fetch(path, { method });
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe(allow);
    expect(await refused.json()).toEqual({ error: expect.stringContaining(method) });
  });

  test('that is longer than a call can be is refused as a whole', async () => {
    const emulator = await emulatorWorld();
    const sent = await emulator.fetch('/mcp', { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024 + 1) });
    expect(sent.status).toBe(413);
  });
});
