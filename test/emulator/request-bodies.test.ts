/** What the request log keeps of bodies, and what it warns of. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { driver, emulatorWorld, push, send, temporaryDirectory } from '../support/emulator-world.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { maskBody } from '../../src/emulator/secrets.ts';

const router = (name: string) => JSON.stringify({ slug: 'a', name });

test('a request is kept with its body and that of its answer', async () => {
  const emulator = await emulatorWorld();
  await emulator.fetch('/v1/routers', { method: 'POST', body: router('A') });
  await send(emulator, gzipSync('{"extDrivers":[]}'), { 'content-encoding': 'gzip' });
  const [pushed, created] = emulator.requests();
  expect(created?.requestBody).toEqual({ text: router('A'), encoding: 'utf8', isCut: false });
  expect(JSON.parse(created?.responseBody?.text ?? '')).toMatchObject({ slug: 'a', version: 1 });
  expect(pushed?.requestBody?.text).toBe('{"extDrivers":[]}');
  expect(pushed?.responseBody).toBeNull();
});

test('the answers of the agent tools and media are kept too, and arrive whole', async () => {
  const emulator = await emulatorWorld({ speed: 0 });
  await emulator.fetch('/v1/routers', { method: 'POST', body: router('A') });
  const input = { promptText: 'waves' };
  const made = await emulator.fetch('/v1/generate/image', {
    method: 'POST',
    body: JSON.stringify({ configId: 'a', input }),
  });
  const { id } = (await made.json()) as { id: string };
  emulator.advance(5);
  const task = (await (await emulator.fetch(`/v1/tasks/${id}`)).json()) as { output: string[] };
  const picture = await (await emulator.fetch(task.output[0] ?? '')).arrayBuffer();
  const [seen] = emulator.requests();
  expect(seen?.responseBody?.encoding).toBe('base64');
  expect(Buffer.from(seen?.responseBody?.text ?? '', 'base64')).toEqual(Buffer.from(picture));
});

test('a long body is cut, never within a character', async () => {
  const emulator = await emulatorWorld({ keptBodyBytes: 24 });
  for (const name of ['aé', 'éé', '日本', '👍👍']) {
    await emulator.fetch('/v1/routers', { method: 'POST', body: router(`${name} and so on`) });
    const kept = emulator.requests()[0]?.requestBody;
    expect(kept).toMatchObject({ encoding: 'utf8', isCut: true });
    expect(router(`${name} and so on`).startsWith(kept?.text ?? '-')).toBe(true);
  }
});

test('of a body of 6 MB only its beginning is kept', async () => {
  const emulator = await emulatorWorld();
  const many = Array.from({ length: 50_000 }, (_, index) => driver(`driver-${index}`, '0 1', '3000000 2'));
  expect(await push(emulator, { extDrivers: many })).toBe(200);
  const [pushed] = emulator.requests();
  expect(pushed?.requestBody).toMatchObject({
    isCut: true,
    text: JSON.stringify({ extDrivers: many }).slice(0, 16_384),
  });
});

test('no body is kept where nothing may be', async () => {
  const emulator = await emulatorWorld({ keptBodyBytes: 0 });
  await emulator.fetch('/v1/routers', { method: 'POST', body: router('A') });
  expect(emulator.requests()[0]?.requestBody).toEqual({ text: '', encoding: 'utf8', isCut: true });
});

test.for<[type: string, body: string]>([
  ['application/json', '{"a": 1, "client_secret": "s3cret", "nested": {"api_key":"s3cret"}}'],
  ['application/json', '[{"access_token":"s3cret"}]'],
  ['application/x-www-form-urlencoded', 'code=s3cret&grant_type=authorization_code&code_verifier=s3cret'],
  ['application/json', '{"url":"https://a.example/b?token=s3cret&size=3"}'],
  ['application/json', '{"tokens":["s3cret",["s3cret"]],"auth":{"user":"s3cret"}}'],
  ['application/json', '{"text":"{\\"token\\": \\"s3cret\\"}"}'],
  ['application/json', '{"text":"token=s3cret"}'],
  ['application/json', '{"text":"a=1\\u0026token=s3cret"}'],
  ['application/json', '{"to\\u006ben":"s3cret"}'],
  ['application/json', '{"url":"https://user:s3cret@a.example/"}'],
  ['text/event-stream', 'event: a\ndata: {"tokens":["s3cret"]}\n\n'],
  ['text/plain', '"token=s3cret"'],
])('a secret in a body of %s is masked: %s', async ([type, body]) => {
  const emulator = await emulatorWorld();
  await emulator.fetch('/v1/routers', { method: 'POST', body, headers: { 'content-type': type } });
  const text = emulator.requests()[0]?.requestBody?.text;
  expect(text).toContain('***');
  expect(text).not.toContain('s3cret');
});

test('a secret in a body that is not UTF-8 is masked', async () => {
  const emulator = await emulatorWorld();
  await emulator.fetch('/v1/routers', { method: 'POST', body: Buffer.from('a=\xe9&token=s3cret', 'latin1') });
  const kept = emulator.requests()[0]?.requestBody;
  expect(Buffer.from(kept?.text ?? '', 'base64').toString('latin1')).toBe('a=\xe9&token=***');
});

test('masking JSON leaves all else as it is, digit by digit', () => {
  const json = (secret: string, link: string) =>
    `[ {"a" : 12345678901234567890.10, "keyframes":[{"uri":"x"}], "token": "${secret}"},{"b":"${link}", "c":"\\u00e9"} ]\n`;
  expect(maskBody(json('s3cret', '<a href=\\"?sig=s3cret\\">'))).toBe(json('***', '<a href=\\"?sig=***\\">'));
  expect(JSON.stringify(maskBody(maskBody(json('s', 'a=b'))))).toBe(JSON.stringify(maskBody(json('s', 'a=b'))));
});

test.each(['a', '[', '{"', '"', '\\', '=', ' ', '@', '://'])('a body of many %j is masked in little time', (piece) => {
  const text = piece.repeat(300_000 / piece.length);
  for (const body of [text, `{"token":"${text}`, `{"a":"x=1&${text}`]) {
    const started = performance.now();
    maskBody(body);
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});

test('a secret that the cut goes through is masked', async () => {
  for (let keptBodyBytes = 1; keptBodyBytes < 45; keptBodyBytes++) {
    const emulator = await startEmulator({ keptBodyBytes });
    for (const body of [
      '{"client_secret": "s3cret\\"s3cret", "a": 1}',
      '{"tokens": ["s3cret"]}',
      '{"a": "{\\"token\\":\\"s3cret\\"}"}',
    ]) {
      await emulator.fetch('/v1/routers', { method: 'POST', body });
      expect(emulator.requests()[0]?.requestBody?.text).not.toMatch(/s3c/);
    }
    await emulator.close();
  }
});

test('bodies outlive a restart', async () => {
  const state = await temporaryDirectory();
  const first = await startEmulator({ state });
  await first.fetch('/v1/routers', { method: 'POST', body: router('A') });
  const before = first.requests();
  await first.close();
  const second = await emulatorWorld({ state });
  expect(second.requests()).toEqual(before);
});

test('times that look like milliseconds are taken, with a warning', async () => {
  const emulator = await emulatorWorld();
  const extDrivers = [driver('a', '1675738308000 1'), driver('b', '253402300799 1'), driver('c', '1675738309000 1')];
  const answer = await send(emulator, JSON.stringify({ extDrivers }));
  const warning =
    '2 drivers have times after the year 9999, such as 1675738308000: a time is in seconds, and this looks like milliseconds';
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-emulator-warning')).toBe(warning);
  expect(emulator.requests()[0]?.warnings).toEqual([warning]);
  expect(emulator.drivers()).toHaveLength(3);
  const usual = await send(
    emulator,
    JSON.stringify({ extDrivers: [driver('a', '1675738308 1', '-9 1'), driver('d'), driver('e', '0001675738308 1')] }),
  );
  expect(usual.headers.has('x-emulator-warning')).toBe(false);
  const long = await send(emulator, JSON.stringify({ extDrivers: [driver('a', `${'9'.repeat(100_000)} 1`)] }));
  expect(long.headers.get('x-emulator-warning')).toContain(`${'9'.repeat(20)}...`);
});
