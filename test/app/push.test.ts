/** One pass and its push: what is sent, what its answer means, and what waits for what. */
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { runPass } from '../../src/app/pass.ts';
import { AgentError } from '../../src/core/errors.ts';
import { daemonWorld, days, hours, rows, seconds } from '../support/daemon-world.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { type Answer, openReceiver, pointsOf } from '../support/receiver.ts';
import { gridFile, longSource, world } from '../support/world.ts';

const once = { retryForMs: 0 };

test('sends the whole snapshot in one POST, and names itself, its host and the digest', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('b,2026-02,2.00', 'a,2026-01,1.50'));
  const report = await w.sync();
  const [post] = w.service.posts;
  expect(report).toMatchObject({
    outcome: 'acknowledged',
    exit: 0,
    push: { id: 1, drivers: 2, points: 2, status: 200 },
  });
  expect(post?.body).toBe(
    '{"shouldDeleteMissing":true,"extDrivers":[' +
      '{"id":"a","path":["a"],"timeSeries":[{"time":"1768478400","value":"1.50"}]},' +
      '{"id":"b","path":["b"],"timeSeries":[{"time":"1771156800","value":"2.00"}]}]}',
  );
  expect(report.push).toMatchObject({ digest: post?.digest, bytes: post?.body.length });
  expect(post).toMatchObject({ method: 'POST', url: '/api/extDrivers/update' });
  expect(post?.headers['user-agent']).toContain('driver-sync/0.0.0');
  expect(post?.headers['user-agent']).toContain(hostname());
  expect(post?.headers['user-agent']).toContain(post?.digest.slice(0, 12));
});

test('sends what is new also where the clock goes back a little each time that it is looked at', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  const now = w.clock.now.bind(w.clock);
  let looks = 0;
  w.clock.now = () => new Date(now().getTime() - looks++);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(w.service.posts).toHaveLength(2);
});

test('does not send an equal snapshot again, even from files that were written anew', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1', 'b,2026-01,2'));
  await w.sync();
  await w.write('a.csv', rows('b,2026-01,2', 'a,2026-01,1'));
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
  expect(w.service.posts).toHaveLength(1);
});

test('sends an equal snapshot again with --force', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  expect(await w.sync({ push: 'always' })).toMatchObject({ outcome: 'acknowledged', push: { id: 2 } });
  expect(w.service.posts[1]?.body).toBe(w.service.posts[0]?.body);
});

test('sends an equal snapshot again after `refresh`, 20 hours', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  w.clock.jump(20 * hours - 1 * seconds);
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
  w.clock.jump(1 * seconds);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
});

test('sends an equal snapshot again where the clock was far ahead when it was acknowledged', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.clock.jump(300 * days);
  await w.sync();
  w.clock.jump(-300 * days);
  await w.sync();
  w.clock.jump(2 * days);
  await w.sync();
  expect(w.service.posts.length).toBeGreaterThan(1);
});

test('sends the acknowledged snapshot again where another may have landed since', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  w.service.answer('drop');
  await w.write('a.csv', rows('a,2026-01,22'));
  expect(await w.sync(once)).toMatchObject({ outcome: 'unknown', exit: 75 });
  await w.write('a.csv', rows('a,2026-01,1'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(w.service.posts[2]?.body).toBe(w.service.posts[0]?.body);
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
});

const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>please log in</html>' };

test.each<[Answer, string, number]>([
  [200, 'acknowledged', 0],
  [{ status: 200, text: '{"ok":true}' }, 'acknowledged', 0],
  [page, 'refused', 5],
  [201, 'refused', 5],
  [204, 'refused', 5],
  [{ status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'refused', 5],
  [400, 'refused', 5],
  [401, 'refused', 5],
  [403, 'refused', 5],
  [404, 'refused', 5],
  [413, 'refused', 5],
  [408, 'unreachable', 75],
  [425, 'unreachable', 75],
  [429, 'unreachable', 75],
  [503, 'unreachable', 75],
  [500, 'unknown', 75],
  [502, 'unknown', 75],
  [504, 'unknown', 75],
  ['drop', 'unknown', 75],
])('%j is %s and exits %i', async (answer, outcome, exit) => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(answer);
  expect(await w.sync(once)).toMatchObject({ outcome, exit, push: { id: 1 } });
  expect(w.service.posts).toHaveLength(1);
});

test('an address where nobody listens is unreachable', async () => {
  await using gone = await openReceiver();
  const { url } = gone;
  await gone[Symbol.asyncDispose]();
  await using w = await daemonWorld({ destination: { url } });
  await w.write('a.csv', rows('a,2026-01,1'));
  expect(await w.sync(once)).toMatchObject({ outcome: 'unreachable', exit: 75 });
});

test('a refused snapshot is tried again by every sync', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(400, 400);
  expect(await w.sync()).toMatchObject({ outcome: 'refused' });
  expect(await w.sync()).toMatchObject({ outcome: 'refused' });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
});

test('says the size where a snapshot is too large, and never splits it', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(413);
  const { push } = await w.sync();
  expect(push).toMatchObject({ status: 413, detail: expect.stringContaining(String(push?.bytes)) });
  expect(w.service.posts).toHaveLength(1);
});

test('a token file that was rotated under a push is read again and tried once', async () => {
  await using w = await daemonWorld();
  await w.configure({ destination: { url: w.service.url, tokenFile: 'token' } });
  await w.write('token', 'first-token\n');
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer('hold', 401);
  const syncing = w.sync();
  await w.service.post(1);
  await w.write('token', 'second-token\n');
  w.service.release(401);
  expect(await syncing).toMatchObject({ outcome: 'refused', exit: 5 });
  expect(w.service.posts.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer first-token',
    'Bearer second-token',
  ]);
});

test('a 401 with the same token in the file is not tried again', async () => {
  await using w = await daemonWorld();
  await w.configure({ destination: { url: w.service.url, tokenFile: 'token' } });
  await w.write('token', 'first-token');
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(401);
  expect(await w.sync()).toMatchObject({ outcome: 'refused' });
  expect(w.service.posts).toHaveLength(1);
});

test('what did not arrive is tried again for up to 60 seconds, ever more slowly', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(...Array<Answer>(30).fill(429));
  expect(await w.sync()).toMatchObject({ outcome: 'unreachable', exit: 75 });
  const ms = w.waits.map((wait) => wait.ms);
  expect(ms.slice(0, 6)).toEqual([500, 1000, 2000, 4000, 8000, 16_000]);
  expect(ms.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(60 * seconds);
  expect(w.service.posts).toHaveLength(ms.length + 1);
});

test('a sync after long trouble still tries for its 60 seconds', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  for (let failures = 0; failures < 10; failures += 1) {
    w.service.answer(429);
    expect(await w.sync(once)).toMatchObject({ outcome: 'unreachable' });
  }
  w.service.answer(429, 429);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
});

test.each<Answer>(['drop', 500, 504, 408, 503, 201, 202])(
  'after %j a different snapshot waits until the timeout has passed, and says so',
  async (answer) => {
    await using w = await daemonWorld();
    await w.configure({ destination: { url: w.service.url, timeout: '90s' } });
    await w.write('a.csv', rows('a,2026-01,1'));
    w.service.answer(answer);
    await w.sync(once);
    await w.clock.advance(20 * seconds);
    await w.write('a.csv', rows('a,2026-01,22'));
    w.service.answer(429);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    // The 60 s of retries are beside it.
    expect(w.waits[0]).toMatchObject({ ms: 70 * seconds, why: expect.stringContaining('may still land') });
    expect(w.waits).toHaveLength(2);
    expect(w.service.posts).toHaveLength(3);
  },
);

test.each<Answer>(['drop', 500, 408, 503, 202])('after %j the same bytes go at once', async (answer) => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(answer);
  await w.sync(once);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(w.waits).toEqual([]);
});

test.each<Answer>([400, 401, 413, 302, 425, 429, page])(
  'after %j a different snapshot goes at once',
  async (answer) => {
    await using w = await daemonWorld();
    await w.write('a.csv', rows('a,2026-01,1'));
    w.service.answer(answer);
    await w.sync(once);
    await w.write('a.csv', rows('a,2026-01,22'));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.waits).toEqual([]);
  },
);

test('a late landing is feared even where the same bytes were acknowledged since', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer('drop');
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(w.waits.at(-1)?.why).toContain('may still land');
});

test('a push that the agent died in counts from the restart', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.open(({ ledger, address, clock }) =>
    ledger.pushes.begin({
      atMs: clock.now().getTime(),
      address,
      digest: 'f'.repeat(64),
      drivers: 1,
      points: 1,
      bytes: 1,
      shouldDeleteMissing: true,
      changes: { drivers: { create: 0, update: 1, delete: 0 }, points: { create: 0, update: 1, delete: 0 } },
    }),
  );
  await w.clock.advance(1 * hours);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', push: { id: 3 } });
  expect(w.waits).toEqual([{ ms: 60 * seconds, why: expect.any(String) }]);
});

test('the first push is blocked until every source has been accepted, and then goes', async () => {
  await using w = await daemonWorld();
  await w.configure({ sources: { sales: csv('*.csv'), costs: csv('costs/*.csv') } });
  await w.write('a.csv', rows('a,2026-01,1'));
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4, reason: expect.stringContaining('"costs"') });
  expect(w.service.posts).toEqual([]);
  await w.write('costs/c.csv', rows('c,2026-01,3'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
});

test('a source that joins later and cannot be read is left out, and the others move on', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.configure({ sources: { sales: csv('*.csv'), costs: csv('costs/*.csv') } });
  await w.write('a.csv', rows('a,2026-01,22'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 4 });
});

test('what is acknowledged belongs to the address: another one gets a first push of its own', async () => {
  await using w = await daemonWorld();
  await using other = await openReceiver();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  const sources = { sales: csv('*.csv'), costs: csv('costs/*.csv') };
  await w.configure({ destination: { url: other.url }, sources });
  expect(await w.sync()).toMatchObject({ outcome: 'blocked', exit: 4 });
  await w.configure({ destination: { url: other.url } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(other.posts[0]?.body).toBe(w.service.posts[0]?.body);
  // Back again, and the same address in other words.
  for (const url of [w.service.url, `${w.service.url}/`, w.service.url.replace('http', 'HTTP')]) {
    await w.configure({ destination: { url } });
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
  }
});

test('sync --json says what scripts rely on, and its exit code is the same', async () => {
  const { receiver: service, run } = await commandsWorld({ sales: csv('*.csv') }, { 'a.csv': rows('a,2026-01,1') });
  service.answer({ status: 400, text: '{"error":"no such month"}' });
  const refused = await run('sync', '--json');
  expect({ code: refused.code, json: refused.json() }).toMatchObject({
    code: 5,
    json: {
      outcome: 'refused',
      exit: 5,
      push: { id: 1, status: 400, detail: expect.stringContaining('no such month') },
    },
  });
  const taken = await run('sync', '--json');
  expect({ code: taken.code, json: taken.json() }).toEqual({
    code: 0,
    json: expect.objectContaining({
      outcome: 'acknowledged',
      exit: 0,
      push: expect.objectContaining({ id: 2, digest: service.posts[1]?.digest, drivers: 1, points: 1 }),
      sources: [
        expect.objectContaining({ name: 'sales', parts: 1, rows: 1, rejects: 0, drivers: 1, points: 1, carried: [] }),
      ],
    }),
  });
  expect(pointsOf(service.posts[1]!)).toEqual({ a: { '2026-01': '1' } });
});

test('the wait for an older push is said where a sync says things, among its warnings', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(202);
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.sync();
  expect(w.log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', message: expect.stringContaining('may still land') }),
  );
});

test('a push that breaks is told as over, so that nobody waits for its answer', async () => {
  await using w = await world({
    config: { sources: { sales: longSource('a.csv') } },
    files: { 'a.csv': gridFile(['A']) },
  });
  const kinds: string[] = [];
  const pass = w.open((inner) => {
    const push = (): Promise<never> => Promise.reject(new AgentError('ledger.led', 'another agent leads'));
    const deps = {
      ...inner,
      destination: { ...inner.destination, push },
      observe: ({ kind }: PassEvent) => void kinds.push(kind),
    };
    return runPass(deps, { push: 'ifNeeded', resume: true, ...once }, new AbortController().signal);
  });
  await expect(pass).rejects.toThrow('another agent leads');
  expect(kinds.filter((kind) => kind.startsWith('push.'))).toEqual(['push.begun', 'push.broken']);
});
