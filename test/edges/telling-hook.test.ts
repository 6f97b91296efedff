/** One request to a hook, against a real receiver. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HookFormat } from '../../src/core/settings.ts';
import { type Delivery, type Notice, noticeEvents } from '../../src/core/telling/notice.ts';
import { openOutlets } from '../../src/edges/telling/outlets.ts';
import { type Receiver, openReceiver } from '../support/receiver.ts';

const notice: Notice = {
  event: 'held',
  state: 'started',
  source: 'books',
  text: 'source "books" is held: <b> & [x](http://evil.example)',
  hint: 'approve it with: driver-sync approve 8f810b3854a1',
  digest: '8f810b3854a1'.padEnd(64, '0'),
  at: '2026-03-15T12:00:00.000Z',
  host: 'books-1',
  address: 'https://drivers.example.com',
};

const secretPath = '/services/T0SECRET/B0SECRET/very-secret-key?token=hush-hush';

async function opened(): Promise<Receiver> {
  const receiver = await openReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

function deliver(
  base: string,
  { format = 'json', signal = AbortSignal.timeout(60_000) }: { format?: HookFormat; signal?: AbortSignal } = {},
): Promise<Delivery> {
  const url = `${base}${secretPath}`;
  const settings = { kind: 'hook', url, format, on: noticeEvents, caFile: undefined } as const;
  const { channels } = openOutlets({ notify: [settings], heartbeat: undefined }, {});
  return channels[0]!.deliver(notice, 'the-key', signal);
}

describe('what a hook gets', () => {
  test('is the notice as JSON', async () => {
    const hook = await opened();
    expect(await deliver(hook.url)).toEqual({ ok: true });
    const { url, headers, body } = await hook.post(1);
    expect({ url, body: JSON.parse(body) }).toEqual({ url: secretPath, body: notice });
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'the-key' });
  });

  test('is one text for Slack, in which data commands nothing', async () => {
    const hook = await opened();
    await deliver(hook.url, { format: 'slack' });
    const { text } = JSON.parse((await hook.post(1)).body) as { text: string };
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/\*driver-sync on books-1: source books is held\*$/),
      'source "books" is held: &lt;b&gt; &amp; [x](http://evil.example)',
      'approve it with: driver-sync approve 8f810b3854a1',
    ]);
  });

  test('is a card for Teams, whose texts are runs without Markdown', async () => {
    const hook = await opened();
    await deliver(hook.url, { format: 'teams' });
    const { type, attachments } = JSON.parse((await hook.post(1)).body);
    expect({ type, attachments }).toMatchObject({
      type: 'message',
      attachments: [
        { contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard', version: '1.2' } },
      ],
    });
    const { body } = attachments[0].content;
    expect(body.map((block: { type: string }) => block.type)).toEqual(Array(4).fill('RichTextBlock'));
    expect(body[1].inlines).toEqual([{ type: 'TextRun', text: notice.text }]);
  });
});

test('a hook has a notice once it says so, though its answer never ends', async () => {
  const slow = createServer((_request, response) => void response.writeHead(202).write('{')).listen(0, '127.0.0.1');
  onTestFinished(() => slow.close().closeAllConnections());
  await once(slow, 'listening');
  expect(await deliver(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`)).toEqual({ ok: true });
});

describe('a hook that does not take it', () => {
  test.each([
    [{ status: 404, text: 'no_service' }, /answered 404 Not Found: no_service; check url/],
    [{ status: 500, text: '' }, /answered 500 Internal Server Error; the receiver failed/],
    [
      { status: 302, headers: { location: 'http://127.0.0.1:1/very-secret-key' } },
      /answered 302 .*redirects are not followed/,
    ],
    [
      { status: 400, text: 'bad very-secret-key in T0SECRET for hush-hush' },
      /answered 400 .*: bad \*\*\* in \*\*\* for \*\*\*/,
    ],
    ['drop' as const, /the connection was cut/],
  ])('%j', async (answer, expected) => {
    const hook = await opened();
    hook.answer(answer);
    const came = await deliver(hook.url);
    expect(came).toMatchObject({ ok: false, error: expect.stringMatching(expected) });
    expect(JSON.stringify(came)).not.toMatch(/secret|hush/i);
    expect(hook.posts).toHaveLength(1);
  });

  test('says when it wants the next try', async () => {
    const hook = await opened();
    hook.answer({ status: 429, headers: { 'retry-after': '120' } });
    expect(await deliver(hook.url)).toMatchObject({ ok: false, retryAfterMs: 120_000 });
  });

  test('is not listened to for longer than a few kilobytes', async () => {
    const endless = createServer((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (response.write('x'.repeat(65_536))) if (response.destroyed) return;
      };
      response.on('drain', more);
      more();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => endless.close().closeAllConnections());
    await once(endless, 'listening');
    const came = await deliver(`http://127.0.0.1:${(endless.address() as AddressInfo).port}`);
    expect(came).toMatchObject({ ok: false, error: expect.stringMatching(/answered 500 .*: x+…/) });
  });

  test('is given up where its time is over', async () => {
    const hook = await opened();
    hook.answer('hold');
    const stop = new AbortController();
    const under = deliver(hook.url, { signal: stop.signal });
    await hook.post(1);
    stop.abort(new Error('no answer within 30 s'));
    expect(await under).toMatchObject({ ok: false });
  });

  test('and is not there', async () => {
    const hook = await openReceiver();
    await hook[Symbol.asyncDispose]();
    expect(await deliver(hook.url)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/the connection was refused/),
    });
  });
});

test('channels have names of their own, without anything secret', () => {
  const hook = {
    kind: 'hook',
    url: 'https://h.example/secret',
    format: 'json',
    on: noticeEvents,
    caFile: undefined,
  } as const;
  const mail = {
    kind: 'mail',
    to: ['a@b.example'],
    from: undefined,
    smtp: 'smtp://u:secret@m',
    on: noticeEvents,
    caFile: undefined,
  } as const;
  const { channels } = openOutlets({ notify: [hook, { ...hook, format: 'slack' }, hook, mail], heartbeat: undefined });
  expect(channels.map(({ name }) => name)).toEqual([
    'hook h.example',
    'slack h.example',
    'hook h.example (2)',
    'e-mail to a@b.example',
  ]);
});
