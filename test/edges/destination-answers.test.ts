import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { answering, keeping, megabyte, push, receiver, small } from '../support/destination-world.ts';
import { handClock } from '../support/hand-clock.ts';

describe('an answer', () => {
  test.each([
    // status, outcome, whether it may have been taken all the same
    [200, 'acknowledged', false],
    [201, 'refused', true],
    [202, 'refused', true],
    [204, 'refused', true],
    [302, 'refused', false],
    [304, 'refused', false],
    [400, 'refused', false],
    [401, 'refused', false],
    [403, 'refused', false],
    [404, 'refused', false],
    [409, 'refused', false],
    [413, 'refused', false],
    [422, 'refused', false],
    [408, 'unreachable', true],
    [425, 'unreachable', false],
    [429, 'unreachable', false],
    [503, 'unreachable', true],
    [500, 'unknown', true],
    [501, 'unknown', true],
    [502, 'unknown', true],
    [504, 'unknown', true],
  ] as const)('%i means %s', async (status, outcome, maybeTaken) => {
    const result = await push(await answering(status));
    expect(result).toMatchObject({ outcome, status, maybeTaken });
    // An acknowledgement needs no words; everything else says what happened and what to do.
    expect(/^\d{3} \w.*; \w/.test(result.detail ?? '')).toBe(status !== 200);
  });

  test.each([
    ['text/html; charset=utf-8', '<p>please log in</p>'],
    ['text/plain', '\n  <!DOCTYPE html><title>Login</title>'],
    ['', '<HTML><body>portal</body></HTML>'],
  ])('200 with a web page (%j) is a refusal', async (type, text) => {
    const result = await push(await answering(200, text, type === '' ? {} : { 'content-type': type }));
    expect(result).toMatchObject({
      outcome: 'refused',
      status: 200,
      maybeTaken: false,
      detail: expect.stringContaining('a web page answered'),
    });
  });

  test.each([
    ['text/html', ''],
    ['text/html', ' \n'],
    ['application/json', '{"html":"<html>"}'],
  ])('200 without a web page (%j, %j) is an acknowledgement', async (type, text) => {
    expect((await push(await answering(200, text, { 'content-type': type }))).outcome).toBe('acknowledged');
  });

  test('a redirect is not followed, and its target is what url should be', async () => {
    const { url: target, received } = await keeping();
    const url = await answering(307, '', { location: `${target}/v2/api/extDrivers/update?session=1` });
    expect((await push(url)).detail).toBe(
      `307 Temporary Redirect; redirects are not followed: set url to ${target}/v2`,
    );
    expect(received).toHaveLength(0);
  });

  test('413 names the size, since a snapshot is never split', async () => {
    expect((await push(await answering(413, 'too big'))).detail).toBe(
      `413 Payload Too Large: too big; the snapshot has ${small.bytes} bytes and is never split: raise the limit of the service or of a proxy before it`,
    );
  });

  test('is told in one short line without control characters', async () => {
    const text = `driver\u0000 "a"\r\n\u001b[31mis\u202e red${' and long'.repeat(100)}`;
    const { detail = '' } = await push(await answering(400, text));
    expect(detail).toMatch(/^400 Bad Request: driver "a" \[31mis red and long/);
    expect(detail).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(detail.length).toBeLessThan(420);
  });

  test('of any length costs little: what is beyond 64 KB is not read', async () => {
    const url = await receiver(async (request, response) => {
      await buffer(request);
      response.writeHead(400);
      const more = (): void =>
        void (response.destroyed || response.write('x'.repeat(megabyte), () => setImmediate(more)));
      more();
    });
    expect(await push(url)).toMatchObject({ outcome: 'refused', status: 400 });
  });

  test('that echoes secrets has them masked, however they are written', async () => {
    const token = 'tok"en/with+signs';
    const url = await receiver(async (request, response) => {
      await buffer(request);
      const { authorization = '', 'x-key': key } = request.headers;
      const bare = authorization.slice(7);
      response
        .writeHead(400)
        .end(`${authorization} ${JSON.stringify(bare)} ${encodeURIComponent(bare)} ${String(key)} plain`);
    });
    const { detail = '' } = await push(url, {
      token: { kind: 'text', text: token },
      headers: { 'X-Key': 'Basic dXNlcjpwYXNz' },
    });
    expect(detail).toContain('Bearer *** "***" *** *** plain');
    expect(detail).not.toMatch(/tok|signs|dXNl/);
  });

  test('a secret at the edge of the line is not shown in part', async () => {
    const token = 'abcdefghijklmnopqrstuvwxyz';
    const url = await answering(400, `${'-'.repeat(290)}${token}`);
    expect((await push(url, { token: { kind: 'text', text: token } })).detail).not.toContain('abc');
  });
});

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    ['0', 0],
    ['99999999999999999999', 366 * 86_400_000],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
  ])('%j', async (text, retryAfterMs) => {
    expect((await push(await answering(503, '', { 'retry-after': text }))).retryAfterMs).toBe(retryAfterMs);
  });

  test.each(['Wed, 21 Oct 2026 07:28:00 GMT', 'Wednesday, 21-Oct-26 07:28:00 GMT', 'Wed Oct 21 07:28:00 2026'])(
    'as a date (%s) is counted from the date of the answer, whatever our clock says',
    async (text) => {
      const headers = { 'retry-after': text, date: 'Wed, 21 Oct 2026 07:27:00 GMT' };
      expect((await push(await answering(429, '', headers), { clock: handClock(new Date(0)) })).retryAfterMs).toBe(
        60_000,
      );
    },
  );

  test('as a date is counted from our clock where the answer has none, and is never negative', async () => {
    const url = await receiver((_request, response) => {
      response.sendDate = false;
      response.writeHead(429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).end();
    });
    expect((await push(url, { clock: handClock(new Date('2026-10-21T07:27:30Z')) })).retryAfterMs).toBe(30_000);
    expect((await push(url, { clock: handClock(new Date('2026-10-21T07:29:00Z')) })).retryAfterMs).toBe(0);
  });

  test('says until when, as a date and time', async () => {
    const clock = handClock(new Date('2026-10-21T23:59:00Z'));
    const url = await receiver((_request, response) => {
      response.writeHead(503, { 'retry-after': '300' }).end();
    });
    expect(await push(url, { clock })).toMatchObject({
      retryAfterMs: 300_000,
      detail: '503 Service Unavailable; the server is busy; it asks to wait until 2026-10-22T00:04:00Z',
    });
  });

  test('counts with a refusal too, and not with 200', async () => {
    expect((await push(await answering(400, '', { 'retry-after': '7' }))).retryAfterMs).toBe(7000);
    expect((await push(await answering(200, '', { 'retry-after': '7' }))).retryAfterMs).toBeUndefined();
  });
});
