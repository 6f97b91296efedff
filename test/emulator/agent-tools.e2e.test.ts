import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { InsufficientScopeError } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';
import { loggedIn } from '../support/agent-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { anyId, routingWorld } from '../support/routing-world.ts';

/** The answers to POST /mcp and to a driver push in a process that lacks a package. */
async function answersWithout(missing: string): Promise<unknown> {
  const program = `
    import { registerHooks } from 'node:module';
    const nobody = new URL('file:///nobody/installed/it.js').href;
    registerHooks({
      resolve(name, context, next) {
        return next(name, name === '${missing}' ? { ...context, parentURL: nobody } : context);
      },
    });
    const { startEmulator } = await import(${JSON.stringify(new URL('../../src/emulator/index.ts', import.meta.url).href)});
    await using emulator = await startEmulator();
    const post = (path, body) => emulator.fetch(path, { method: 'POST', body });
    const tools = await post('/mcp', '{}');
    const push = await post('/api/extDrivers/update', '{"extDrivers":[]}');
    console.log(JSON.stringify({ status: tools.status, ...(await tools.json()), push: push.status }));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}

test.for(['@modelcontextprotocol/server', 'oidc-provider', 'fetch-to-node'])(
  'without the package %s the tools say what to install, and everything else works',
  async (missing) => {
    expect(await answersWithout(missing)).toEqual({
      status: 501,
      error: `the agent tools need the package ${missing}: npm install @modelcontextprotocol/server@2 oidc-provider@9 fetch-to-node@2, then start the emulator again`,
      push: 200,
    });
  },
);

describe('the official client', () => {
  test('discovers, registers, logs in through the browser, and finds the tools', async () => {
    const { client } = await loggedIn(await emulatorWorld());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'create_model_router',
      'delete_model_router',
      'get_credit_balance',
      'get_model_router',
      'get_task',
      'get_task_routing',
      'list_model_routers',
      'list_models',
      'list_projects',
      'update_model_router',
      'whoami',
    ]);
    expect(tools.find(({ name }) => name === 'get_model_router')?.inputSchema.required).toEqual(['routerId']);
  });

  test('may speak the newest protocol or the one before', async () => {
    const emulator = await emulatorWorld();
    for (const [mode, version] of [
      ['legacy', '2025-11-25'],
      ['auto', '2026-07-28'],
    ] as const) {
      const { client, call } = await loggedIn(emulator, { mode });
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(await call('create_model_router', { slug: mode, name: mode })).toMatchObject({ isError: false });
      expect(await call('create_model_router', { slug: mode, name: mode })).toMatchObject({
        isError: true,
        content: { status: 409 },
      });
    }
  });

  test('renews its token without the browser when it has expired', async () => {
    const emulator = await emulatorWorld();
    const { call, kept } = await loggedIn(emulator);
    const first = kept.tokens?.access_token;
    // The client opens a stream when it has connected, and would renew its token for that too.
    await expect.poll(() => emulator.requests()[0]).toMatchObject({ method: 'GET', path: '/mcp', status: 405 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 60 * 60 * 1_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(await call('whoami')).toMatchObject({ isError: false });
    expect(kept.tokens?.access_token).not.toBe(first);
  });

  test.for(['legacy', 'auto'] as const)('is refused a tool whose scope it did not ask for (%s)', async (mode) => {
    const { call } = await loggedIn(await emulatorWorld(), { scope: 'mcp:read', mode });
    expect(await call('list_model_routers')).toMatchObject({ isError: false });
    const created = call('create_model_router', { slug: 'a', name: 'A' });
    await expect(created).rejects.toThrow(InsufficientScopeError);
    expect(await call('list_model_routers')).toMatchObject({ content: { routers: [] } });
  });

  test('has no tool to read with when it may only write', async () => {
    const { call } = await loggedIn(await emulatorWorld(), { scope: 'mcp:write' });
    await expect(call('whoami')).rejects.toThrow(InsufficientScopeError);
    expect(await call('create_model_router', { slug: 'a', name: 'A' })).toMatchObject({ isError: false });
  });
});

describe('the tools', () => {
  test('say who is logged in, which project there is and what it has', async () => {
    const { call } = await loggedIn(await emulatorWorld({ credits: 1_234 }));
    expect((await call('whoami')).content).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      email: expect.stringContaining('@'),
    });
    const { projects } = (await call('list_projects')).content;
    expect(projects).toEqual([{ id: expect.any(String), name: expect.any(String) }]);
    const balance = await call('get_credit_balance', { projectId: projects[0].id });
    expect(balance.content).toEqual({ projectId: projects[0].id, creditBalance: 1_234 });
    expect(await call('get_credit_balance', { projectId: anyId })).toMatchObject({
      isError: true,
      content: { status: 404 },
    });
  });

  test('list the models, all of them or those of an endpoint', async () => {
    const { call } = await loggedIn(await emulatorWorld());
    const idsAt = async (endpoint?: string): Promise<string[]> =>
      (await call('list_models', endpoint === undefined ? {} : { endpoint })).content.models.map(
        ({ id }: { id: string }) => id,
      );
    expect(await idsAt()).toEqual(builtInCatalog.models.map(({ id }) => id));
    expect(await idsAt('/v1/text_to_video')).toContain('gen4.5');
    expect(await idsAt('/v1/text_to_video')).not.toContain('gen4_turbo');
    expect(await idsAt('/v1/generate/audio')).toContain('eleven_v3');
    const [model] = (await call('list_models')).content.models;
    expect(Object.keys(model)).toEqual(['id', 'provider', 'modality', 'inputConstraints', 'price']);
  });

  test('create, read, replace and delete a router that REST knows too', async () => {
    const world = await routingWorld();
    const { call } = await loggedIn(world.emulator);
    const settings = { optimizeFor: 'latency', maxCreditsPerGeneration: { video: 80 } };
    const created = await call('create_model_router', { slug: 'fast', name: 'Fast', settings });
    const { id: routerId } = created.content;
    expect(created).toMatchObject({ isError: false, content: { slug: 'fast', version: 1, settings } });
    expect((await world.call('GET', `/v1/routers/${routerId}`)).body).toEqual(created.content);
    expect((await call('get_model_router', { routerId })).content).toEqual(created.content);

    const replaced = await call('update_model_router', { routerId, settings: { optimizeFor: 'quality' } });
    expect(replaced.content).toMatchObject({
      version: 2,
      settings: { schemaVersion: 1, optimizeFor: 'quality', models: { mode: 'allow_new_except', ids: [] } },
    });
    expect(replaced.content.settings).not.toHaveProperty('maxCreditsPerGeneration');
    expect((await call('list_model_routers')).content).toEqual({
      routers: [replaced.content],
      hasMore: false,
      nextCursor: null,
    });

    expect(await call('delete_model_router', { routerId })).toMatchObject({ isError: false });
    expect(await call('get_model_router', { routerId })).toMatchObject({ isError: true, content: { status: 404 } });
  });

  test('are recorded as requests, and what they changed as applied', async () => {
    const emulator = await emulatorWorld();
    const { call } = await loggedIn(emulator);
    await call('list_model_routers');
    expect(emulator.requests()[0]).toMatchObject({ path: '/mcp', status: 200, applied: false });
    await call('create_model_router', { slug: 'a', name: 'A' });
    expect(emulator.requests()[0]).toMatchObject({ path: '/mcp', status: 200, applied: true });
  });

  test('are recorded as having changed nothing where an update says what holds already', async () => {
    const emulator = await emulatorWorld({ strict: true });
    const { call } = await loggedIn(emulator);
    const { content: router } = await call('create_model_router', { slug: 'a', name: 'A' });
    const update = { routerId: router['id'], settings: { optimizeFor: 'cost' } };
    expect(await call('update_model_router', update)).toMatchObject({ isError: false, content: { version: 1 } });
    expect(emulator.requests()[0]).toMatchObject({ path: '/mcp', status: 200, applied: false });
  });

  test('refuse what REST refuses, and say why', async () => {
    const { call } = await loggedIn(await emulatorWorld());
    await call('create_model_router', { slug: 'a', name: 'A' });
    expect(await call('create_model_router', { slug: 'a', name: 'B' })).toMatchObject({
      isError: true,
      content: { status: 409, code: 'slug_in_use' },
    });
    const models = { mode: 'allowlist_only', ids: ['gen0'] };
    expect(await call('create_model_router', { slug: 'b', name: 'B', settings: { models } })).toMatchObject({
      isError: true,
      content: { status: 400, issues: [{ path: ['settings', 'models', 'ids', 0] }] },
    });
    expect((await call('list_model_routers')).content.routers).toHaveLength(1);
  });

  test('refuse invalid arguments as REST refuses a body, with each problem and its place', async () => {
    const world = await routingWorld();
    const { call } = await loggedIn(world.emulator);
    for (const body of [
      { slug: 'Bad Slug', name: 'b' },
      { slug: 'b' },
      { slug: 'b', name: 'B', color: 'red' },
      { slug: 'b', name: 'B', settings: { models: { ids: [] } } },
      { slug: 'b', name: 'B', settings: { maxCreditsPerGeneration: { video: 0 } } },
    ]) {
      const { status, body: refusal } = await world.call('POST', '/v1/routers', body);
      expect(await call('create_model_router', body)).toEqual({ isError: true, content: { status, ...refusal } });
    }
    for (const [name, input, path] of [
      ['list_model_routers', { limit: 0 }, ['limit']],
      ['get_model_router', {}, ['routerId']],
      ['get_model_router', { routerId: 'a-slug' }, ['routerId']],
      ['whoami', { color: 'red' }, []],
    ] as const) {
      const content = { status: 400, error: 'Validation of body failed', issues: [{ path }] };
      expect(await call(name, input)).toMatchObject({ isError: true, content });
    }
  });

  test('explain what became of a task', async () => {
    const world = await routingWorld();
    const { call } = await loggedIn(world.emulator);
    const router = await world.createRouter('cheap');
    const taskId = await world.generate('image', 'cheap', { promptText: 'a lighthouse' });
    expect((await call('get_task', { taskId })).content).toEqual(await world.task(taskId));
    const [record] = await world.log(router.id);
    expect((await call('get_task_routing', { taskId })).content).toEqual(record);
    for (const name of ['get_task', 'get_task_routing']) {
      expect(await call(name, { taskId: anyId })).toMatchObject({ isError: true, content: { status: 404 } });
    }
  });

  test('refuse a body that is not UTF-8 as one that is not JSON, and so does the registration', async () => {
    const emulator = await emulatorWorld();
    const { kept } = await loggedIn(emulator);
    const post = async (path: string, body: string) => {
      const response = await emulator.fetch(path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${kept.tokens?.access_token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: Buffer.from(body, 'latin1'),
      });
      return { status: response.status, body: await response.json() };
    };
    const call = { name: 'create_model_router', arguments: { slug: 'a', name: 'caf\xe9' } };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
    expect(await post('/mcp', message)).toEqual({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code: -32_700, message: expect.stringMatching(/^Parse error/) } },
    });
    expect(await post('/mcp', message)).toEqual(await post('/mcp', '{"jsonrpc'));
    const client = JSON.stringify({ redirect_uris: ['http://127.0.0.1:9/'], client_name: 'caf\xe9' });
    expect(await post('/register', client)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const listed = await emulator.fetch('/v1/routers');
    expect(await listed.json()).toMatchObject({ data: [] });
  });
});
