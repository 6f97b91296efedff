/** A notice by e-mail: one connection to the mail server for each try. */
import { once } from 'node:events';
import { type Socket, isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isAgentError } from '../../core/errors.ts';
import type { MailSettings } from '../../core/settings.ts';
import type { Delivery, Notice } from '../../core/telling/notice.ts';
import { type SmtpServer, parseSmtp } from '../../core/telling/smtp.ts';
import { readAuthorities } from '../../http/credentials.ts';
import { SilenceError, codeOf, networkFailure } from '../../http/failures.ts';
import { oneLine } from '../../http/masking.ts';
import { mailText } from './formats.ts';

const connectMs = 10_000;
const silenceUsualMs = 20_000;

/** Node's names for a certificate, as `tls.connect` takes them. */
type Authorities = readonly string[] | undefined;

export async function sendMail(
  settings: MailSettings,
  { notice, key }: { readonly notice: Notice; readonly key: string },
  signal: AbortSignal,
  silenceMs = silenceUsualMs,
): Promise<Delivery> {
  const server = parseSmtp(settings.smtp);
  if ('problem' in server) return { ok: false, error: `notify.smtp: ${server.problem}` };
  let socket: Socket | undefined;
  const stop = (): void => void socket?.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const authorities = await readAuthorities(settings.caFile, { code: 'config.invalid', signal });
    socket = await openSocket(server, authorities);
    signal.throwIfAborted();
    await connected(socket, server);
    signal.throwIfAborted();
    return await send({ settings, server, authorities, socket, silenceMs }, { notice, key });
  } catch (error) {
    return { ok: false, error: isAgentError(error) ? error.message : failureOf(error, server, silenceMs) };
  } finally {
    signal.removeEventListener('abort', stop);
    socket?.destroy();
  }
}

async function openSocket({ host, port, tls }: SmtpServer, authorities: Authorities): Promise<Socket> {
  // Every start would wait for Node's TLS, and few have a mail to send.
  const socket =
    tls === 'implicit'
      ? (await import('node:tls')).connect({ host, port, ...trust(host, authorities) })
      : (await import('node:net')).connect(port, host);
  // Whoever waits for it learns of it; nobody does while a notice is written.
  return socket.on('error', () => undefined);
}

function trust(host: string, authorities: Authorities): { servername?: string; ca?: string[] } {
  return {
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities && { ca: [...authorities] }),
  };
}

async function connected(socket: Socket, { tls }: SmtpServer): Promise<void> {
  const late = Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' });
  const timer = setTimeout(() => socket.destroy(late), connectMs);
  try {
    await once(socket, tls === 'implicit' ? 'secureConnect' : 'connect');
  } finally {
    clearTimeout(timer);
  }
}

interface Way {
  readonly settings: MailSettings;
  readonly server: SmtpServer;
  readonly authorities: Authorities;
  readonly socket: Socket | TLSSocket;
  /** How long the server may say nothing once a connection stands. */
  readonly silenceMs: number;
}

async function send(
  { settings, server, authorities, socket, silenceMs }: Way,
  { notice, key }: { readonly notice: Notice; readonly key: string },
): Promise<Delivery> {
  // Loaded with the first mail: most agents send none for months.
  const { createTransport } = await import('nodemailer');
  const { host, port, tls, user, password } = server;
  const isImplicit = tls === 'implicit';
  const transport = createTransport({
    host,
    port,
    connection: socket,
    secure: isImplicit,
    secured: isImplicit,
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: trust(host, authorities),
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { subject, text } = mailText(notice);
  const machine = notice.host.replace(/[^\w.-]/g, '-');
  const sent = transport.sendMail({
    from: { name: 'driver-sync', address: settings.from ?? senderOf(server, machine) },
    to: [...settings.to],
    subject,
    text,
    // The same for each try, so that a mail that came twice is shown once.
    messageId: `<${key.replace(/[^\w.-]/g, '-')}@driver-sync>`,
    headers: { 'auto-submitted': 'auto-generated' },
  });
  const { rejected } = await sent.catch((error: unknown) => {
    // The connection stood: it is the server that is silent, whatever nodemailer calls it.
    throw codeOf(error) === 'ETIMEDOUT' ? new SilenceError('the mail server is silent', { cause: error }) : error;
  });
  return rejected.length === 0
    ? { ok: true }
    : { ok: true, note: `the mail server refused some recipients: ${oneLine(rejected.map(String).join(', '), [])}` };
}

function senderOf({ user }: SmtpServer, machine: string): string {
  return user?.includes('@') === true ? user : `driver-sync@${machine}`;
}

/** nodemailer's own codes first; what is not its own is the network's. */
function failureOf(error: unknown, server: SmtpServer, silenceMs: number): string {
  const { host, port } = server;
  const name = `mail server ${host}:${port}`;
  const { response = '', cause } = error as { response?: string; cause?: unknown };
  const secrets = secretsOf(server);
  const said = oneLine(response, secrets);
  switch (codeOf(error)) {
    case 'EAUTH':
      return `${name} refused user and password${said === '' ? '' : `: ${said}`}; check them in smtp`;
    case 'ETLS':
      return `${name}: no safe connection, and nothing was sent: ${oneLine(messageOf(error), secrets)}; write smtps://, or smtp://…?tls=none where the network is trusted`;
    case 'EENVELOPE':
      return `${name} refused the sender or the recipients${said === '' ? '' : `: ${said}`}; check email and from`;
    default:
  }
  if (said !== '') return `${name} answered ${said}`;
  const { why, hint } = networkFailure(error instanceof SilenceError ? error : (cause ?? error), secrets, {
    connectMs,
    silenceMs,
    isTriedAgain: false,
  });
  return `${name}: ${why}; ${hint}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Also as they go over the wire. */
function secretsOf({ user = '', password = '' }: SmtpServer): readonly string[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  if (password === '') return [];
  return [password, base64(password), base64(`\0${user}\0${password}`)];
}
