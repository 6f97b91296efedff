/** A notice by e-mail, against a real mail server of the test's own. Its certificate needs openssl on this machine. */
import { writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, createServer } from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Delivery, type Notice, noticeEvents } from '../../src/core/telling/notice.ts';
import { sendMail } from '../../src/edges/telling/mail.ts';
import { openOutlets } from '../../src/edges/telling/outlets.ts';
import { canCertify, certify } from '../support/certificate.ts';
import { tempDir } from '../support/source-world.ts';

const notice: Notice = {
  event: 'held',
  state: 'started',
  source: 'books',
  text: 'source "books" is held: it would delete 10 of 20 drivers',
  hint: 'approve it with: driver-sync approve 8f810b3854a1',
  digest: '8f810b3854a1'.padEnd(64, '0'),
  at: '2026-03-15T12:00:00.000Z',
  host: 'books-1',
  address: 'https://drivers.example.com',
};

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly user: unknown;
  readonly isSecure: boolean;
}

interface MailServer {
  readonly port: number;
  readonly mails: Mail[];
}

const password = 'hush-hush';

async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) =>
      auth.password === password ? done(null, { user: auth.username }) : done(new Error(`${auth.password} is wrong`)),
    async onData(stream, { envelope, user, secure }, done) {
      const body = await text(stream);
      const { mailFrom, rcptTo } = envelope;
      const from = mailFrom === false ? '' : mailFrom.address;
      mails.push({ from, to: rcptTo.map(({ address }) => address), text: body, user, isSecure: secure });
      done();
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, mails };
}

interface Sending {
  readonly smtp: string;
  readonly caFile?: string;
  readonly to?: readonly string[];
  readonly from?: string;
  readonly signal?: AbortSignal;
}

function send({ smtp, caFile, from, to = ['cfo@example.com'], signal }: Sending): Promise<Delivery> {
  const settings = { kind: 'mail', to, from, smtp, on: noticeEvents, caFile } as const;
  const { channels } = openOutlets({ notify: [settings], heartbeat: undefined }, {});
  return channels[0]!.deliver(notice, '7.1773576000000.books-1', signal ?? AbortSignal.timeout(60_000));
}

test('says in its subject what it is about, and in its text what to do', async () => {
  const server = await mailServer();
  const to = ['cfo@example.com', 'finance@example.com'];
  expect(await send({ smtp: `smtp://127.0.0.1:${server.port}`, to })).toEqual({ ok: true });
  const [mail] = server.mails;
  expect(mail).toMatchObject({ from: 'driver-sync@books-1', to, user: undefined });
  expect(mail?.text).toMatch(/^From: "?driver-sync"? <driver-sync@books-1>\r$/m);
  expect(mail?.text).toMatch(/^Subject: driver-sync on books-1: source books is held\r$/m);
  expect(mail?.text).toMatch(/^Message-ID: <7\.1773576000000\.books-1@driver-sync>\r$/m);
  expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  const [, body = ''] = mail?.text.split('\r\n\r\n') ?? [];
  expect(body.replaceAll('=\r\n', '')).toContain(
    'source "books" is held: it would delete 10 of 20 drivers\r\napprove it with',
  );
});

test('comes from whom the config names, else from the user of the mail server', async () => {
  const server = await mailServer();
  const smtp = `smtp://agent%40example.com:${password}@127.0.0.1:${server.port}`;
  await send({ smtp });
  await send({ smtp, from: 'other@example.com' });
  expect(server.mails.map(({ from, user }) => [from, user])).toEqual([
    ['agent@example.com', 'agent@example.com'],
    ['other@example.com', 'agent@example.com'],
  ]);
});

describe('a mail server that does not take it', () => {
  test('because of the password: it is not shown, whatever the server says', async () => {
    const server = await mailServer();
    const came = await send({ smtp: `smtp://me:wrong-secret@127.0.0.1:${server.port}` });
    expect(came).toMatchObject({
      ok: false,
      error: expect.stringMatching(/refused user and password: 535 \*\*\* is wrong/),
    });
    expect(JSON.stringify(came)).not.toContain('wrong-secret');
    expect(server.mails).toEqual([]);
  });

  test('for anybody', async () => {
    const server = await mailServer({ onRcptTo: (_address, _session, done) => done(new Error('no such user')) });
    expect(await send({ smtp: `smtp://127.0.0.1:${server.port}` })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/refused the sender or the recipients: 550 no such user/),
    });
  });

  test('for some: the others have it, and it is said who has not', async () => {
    const server = await mailServer({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('gone') ? new Error('gone') : null),
    });
    const to = ['gone@example.com', 'cfo@example.com'];
    expect(await send({ smtp: `smtp://127.0.0.1:${server.port}`, to })).toEqual({
      ok: true,
      note: 'the mail server refused some recipients: gone@example.com',
    });
    expect(server.mails).toMatchObject([{ to: ['cfo@example.com'] }]);
  });

  test('now: what it says is shown', async () => {
    const server = await mailServer({
      onMailFrom: (_address, _session, done) => done(Object.assign(new Error('greylisted'), { responseCode: 451 })),
    });
    const came = await send({ smtp: `smtp://127.0.0.1:${server.port}` });
    expect(came).toMatchObject({ ok: false, error: expect.stringContaining('451 greylisted') });
  });

  test('and is not there', async () => {
    const silent = await listening(createServer());
    silent.server.close();
    expect(await send({ smtp: `smtp://127.0.0.1:${silent.port}` })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^mail server 127\.0\.0\.1:\d+: the connection was refused/),
    });
  });

  test('and says nothing: the connection ends with the time of the try', async () => {
    const { port, server } = await listening(createServer());
    onTestFinished(() => void server.close());
    const stop = new AbortController();
    const under = send({ smtp: `smtp://127.0.0.1:${port}`, signal: stop.signal });
    const [socket] = (await once(server, 'connection')) as [NodeJS.EventEmitter];
    stop.abort(new Error('no answer within 30 s'));
    expect(await under).toMatchObject({ ok: false });
    await once(socket, 'close');
  });

  test('and stalls: it is not said that no connection stood', async () => {
    const { port, server } = await listening(createServer());
    onTestFinished(() => void server.close());
    const smtp = `smtp://127.0.0.1:${port}`;
    const about = { from: undefined, caFile: undefined, on: noticeEvents };
    const settings = { kind: 'mail', to: ['cfo@example.com'], smtp, ...about } as const;
    expect(await sendMail(settings, { notice, key: '7.1.books-1' }, AbortSignal.timeout(60_000), 200)).toEqual({
      ok: false,
      error: `mail server 127.0.0.1:${port}: no byte moved for 0.2 s; the server, or something on the way to it, stalls: look there`,
    });
  });
});

describe.skipIf(!canCertify)('over TLS', () => {
  const identity = canCertify ? certify('localhost') : { key: '', cert: '' };

  async function authority(): Promise<string> {
    const file = path.join(await tempDir(), 'ca.pem');
    writeFileSync(file, identity.cert);
    return file;
  }

  test.each([
    ['smtps', ''],
    ['smtp', '?tls=starttls'],
  ])('%s:// is encrypted, by an authority that caFile names', async (protocol, query) => {
    const server = await mailServer({ secure: protocol === 'smtps', ...identity });
    const smtp = `${protocol}://me:${password}@localhost:${server.port}${query}`;
    expect(await send({ smtp, caFile: await authority() })).toEqual({ ok: true });
    expect(server.mails).toMatchObject([{ isSecure: true, user: 'me' }]);
    const untrusted = await send({ smtp });
    expect(untrusted).toMatchObject({ ok: false, error: expect.stringContaining('no safe connection') });
    expect(server.mails).toHaveLength(1);
  });

  test('is asked for before anything is said: a server without it gets neither password nor notice', async () => {
    const tried: string[] = [];
    const server = await mailServer({
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      onAuth({ username = '' }, _session, done) {
        tried.push(username);
        done(null, { user: username });
      },
    });
    const came = await send({ smtp: `smtp://me:${password}@localhost:${server.port}?tls=starttls` });
    expect(came).toMatchObject({
      ok: false,
      error: expect.stringMatching(
        /no safe connection, and nothing was sent: .*\?tls=none where the network is trusted/,
      ),
    });
    expect({ tried, mails: server.mails }).toEqual({ tried: [], mails: [] });
  });

  test('is not asked for where the address says so', async () => {
    const server = await mailServer({ hideSTARTTLS: true });
    expect(await send({ smtp: `smtp://me:${password}@localhost:${server.port}?tls=none` })).toEqual({ ok: true });
    expect(server.mails).toMatchObject([{ isSecure: false, user: 'me' }]);
  });
});

async function listening(server: Server): Promise<{ server: Server; port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}
