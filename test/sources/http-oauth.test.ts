/** Tokens of OAuth. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { receiver } from '../support/destination-world.ts';
import { handClock } from '../support/hand-clock.ts';
import { openSource, openSourceIn, readWhole, tempDir } from '../support/source-world.ts';
import { everythingIn, failureOf, secret } from '../support/web-world.ts';

describe('client credentials', () => {
  interface Tokens {
    readonly url: string;
    /** What the server of tokens was sent. */
    readonly asked: { authorization: string | undefined; form: string }[];
    /** Tokens that are taken now. */
    valid: string;
    given: number;
  }

  async function tokens(
    answer = (count: number): string => `{"access_token":"t${count}","token_type":"Bearer","expires_in":3600}`,
  ): Promise<Tokens> {
    const state: { -readonly [key in keyof Tokens]: Tokens[key] } = { url: '', asked: [], valid: 't1', given: 0 };
    state.url = await receiver(async (request, response) => {
      if (request.url === '/token') {
        state.asked.push({ authorization: request.headers.authorization, form: await text(request) });
        return response.writeHead(200, { 'content-type': 'application/json' }).end(answer(++state.given));
      }
      if (request.headers.authorization !== `Bearer ${state.valid}`) return response.writeHead(401).end();
      return response.writeHead(200, { 'content-type': 'text/csv', etag: '"x"' }).end('date,amount\n2026-01-31,1.50\n');
    });
    return state;
  }

  async function reading(
    { url }: Tokens,
    keys: object = {},
    clock = handClock(new Date('2026-03-15T12:00:00Z')),
  ): Promise<Source> {
    const oauth = { tokenUrl: `${url}/token`, clientId: 'me:1', clientSecret: `${secret}/+`, ...keys };
    return openSourceIn({ clock, baseDir: await tempDir() }, 'http', { url: `${url}/x.csv`, oauth });
  }

  test('give a token that is used until it expires', async () => {
    const server = await tokens();
    const clock = handClock(new Date('2026-03-15T12:00:00Z'));
    const source = await reading(server, { scope: 'reports', audience: 'books' }, clock);
    await readWhole(source);
    await readWhole(source);
    const basic = Buffer.from(`me%3A1:${secret}%2F%2B`).toString('base64');
    expect(server.asked).toEqual([
      { authorization: `Basic ${basic}`, form: 'grant_type=client_credentials&scope=reports&audience=books' },
    ]);
    clock.jump(3_580_000);
    server.valid = 't2';
    await readWhole(source);
    expect(server.given).toBe(2);
  });

  test.each([
    ['"token_type":"Bearer","expires_in":3600', 3570],
    ['"token_type":"bearer","expires_in":"3600"', 3570],
    ['"token_type":"BearerToken","expires_in":3599.99', 3569],
    ['"token_type":null,"expires_in":null', undefined],
    ['"expires_in":3600', 3570],
  ])('give a token that says %s', async (words, lastsSeconds) => {
    const server = await tokens((count) => `{"access_token":"t${count}",${words}}`);
    const clock = handClock(new Date('2026-03-15T12:00:00Z'));
    const source = await reading(server, {}, clock);
    await readWhole(source);
    clock.jump(((lastsSeconds ?? 1_000_000) - 1) * 1000);
    await readWhole(source);
    expect(server.given).toBe(1);
    if (lastsSeconds === undefined) return;
    clock.jump(1000);
    server.valid = 't2';
    await readWhole(source);
    expect(server.given).toBe(2);
  });

  test('are sent in the form where that is wanted', async () => {
    const server = await tokens();
    await readWhole(await reading(server, { send: 'body' }));
    expect(server.asked).toEqual([
      {
        authorization: undefined,
        form: `grant_type=client_credentials&client_id=me%3A1&client_secret=${secret}%2F%2B`,
      },
    ]);
  });

  test('are asked once more where a token is refused, and no more', async () => {
    const server = await tokens();
    const source = await reading(server);
    await readWhole(source);
    server.valid = 't2';
    await readWhole(source);
    expect(server.given).toBe(2);
    server.valid = 'none';
    const error = await failureOf(source);
    expect(error.message).toBe(`${server.url}: it answered 401 to a new token`);
    expect(server.given).toBe(3);
  });

  test.each([
    ['is no token', '{"access_token":"","expires_in":1}', 'the answer is not a token of OAuth at access_token'],
    [
      'is of another kind',
      '{"access_token":"t1","token_type":"mac"}',
      'the answer is not a token of OAuth at token_type',
    ],
    ['is a page', '<html></html>', 'a web page answered'],
  ])('say what is wrong where the answer %s, without a secret', async (_what, answer, message) => {
    const error = await failureOf(await reading(await tokens(() => answer)));
    expect(error.message).toContain(message);
    expect(everythingIn(error)).not.toContain(secret);
  });

  test.each<[string, (request: IncomingMessage, response: ServerResponse) => unknown, RegExp, RegExp]>([
    [
      'does not know them',
      (_request, response) =>
        response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
      /: it answered 401 Unauthorized: \{"error":"invalid_client"\}$/,
      /^check clientId, clientSecret, scope and send of oauth/,
    ],
    [
      'has moved',
      (_request, response) => response.writeHead(302, { location: '/x' }).end(),
      /: it answered 302/,
      /tokenUrl/,
    ],
    ['is not there', (_request, response) => response.writeHead(404).end(), /: it answered 404/, /tokenUrl/],
    ['answers with a page', (_request, response) => response.end('<html></html>'), /: a web page answered/, /tokenUrl/],
    ['answers something else', (_request, response) => response.end('{}'), /: the answer is not a token/, /tokenUrl/],
    [
      'says no with status 200',
      (_request, response) =>
        response.end(`{"error":"invalid_client","error_description":"client ${secret}\\u001b unknown"}`),
      /: it answered 200 with an error: invalid_client: client \*\*\* unknown$/,
      /^check clientId, clientSecret, scope and send of oauth/,
    ],
    [
      'says no in an object',
      (_request, response) => response.end('{"access_token":null,"error":{"code":"denied"}}'),
      /: it answered 200 with an error: \{"code":"denied"\}$/,
      /^check clientId/,
    ],
    [
      'says that there is no error, and gives nothing',
      (_request, response) => response.end('{"error":null}'),
      /: the answer is not a token/,
      /tokenUrl/,
    ],
    ['is busy', (_request, response) => response.writeHead(503).end(), /: it answered 503/, /^the server is busy/],
    ['breaks off', (_request, response) => response.destroy(), /: the connection was cut/, /it is tried again/],
  ])('say that it was the server of tokens that %s', async (_what, handle, message, hint) => {
    const url = await receiver(handle);
    const oauth = { tokenUrl: `${url}/token`, clientId: 'me', clientSecret: secret };
    const error = await failureOf(openSource('http', { url: 'https://books.example/x.csv', oauth }, '/'));
    expect(error).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(error.message).toContain(`no token from oauth.tokenUrl: ${url}: `);
    expect(everythingIn(error)).not.toContain(secret);
  });

  test('stand alone', () => {
    const oauth = { tokenUrl: 'https://x/token', clientId: 'a', clientSecret: 'b' };
    expect(() => openSource('http', { url: 'https://x/y', token: 'abc', oauth }, '/')).toThrow(
      'oauth, and other credentials',
    );
    expect(() => openSource('http', { url: 'https://x/y', oauth: { ...oauth, clientSecret: undefined } }, '/')).toThrow(
      'one of clientSecret and clientSecretFile has to be there',
    );
  });
});
