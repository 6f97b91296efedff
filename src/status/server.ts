/** The status page on a port: who may ask is settled here, and what is answered in `routes.ts`. */
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { StatusSettings } from '../core/settings.ts';
import { hasToken, isOwnHost, tokenIn } from './access.ts';
import { type Answer, textAnswer } from './answer.ts';
import { OpenPages } from './events.ts';
import { answerOf, routeOf } from './routes.ts';
import type { Watched } from './watched.ts';

/** A request is a few lines. Whoever takes longer to send it is none of ours. */
const requestUsualMs = 10_000;
const connectionsMax = 200;

/** Everything comes from here, nothing is framed, and no form is sent elsewhere. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

export interface StatusServer extends AsyncDisposable {
  readonly port: number;
  /** Has the pages that are open ask for themselves again. */
  tellNews(): void;
}

const eventsPath = '/events';

/** @throws Error with the system's `code`, such as `EADDRINUSE` */
export async function openStatusServer(
  listen: StatusSettings,
  agent: Watched,
  log: Log,
  requestMs = requestUsualMs,
): Promise<StatusServer> {
  const server = createServer({
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    // Where nobody says, Node looks twice a minute.
    connectionsCheckingInterval: requestMs / 10,
  });
  server.maxConnections = connectionsMax;
  const pages = new OpenPages();
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await answerTo(request, agent).catch((error: unknown) => failed(error, request, log));
    if (answer === 'events') pages.add(response, headers);
    else send(response, answer, request.method === 'HEAD');
  };
  server.on('request', (request, response) => void respond(request, response));
  server.listen(listen.port, listen.host);
  // Rejects with the error of `listen`.
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    tellNews: () => pages.tell(),
    async [Symbol.asyncDispose]() {
      pages[Symbol.dispose]();
      await closed(server);
    },
  };
}

async function closed(server: Server): Promise<void> {
  const ended = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await ended;
}

async function answerTo(request: IncomingMessage, agent: Watched): Promise<Answer | 'events'> {
  const { method, url = '/', headers: given, socket } = request;
  const settings = agent.settings.status;
  if (settings === undefined || !isOwnHost(given.host, settings, socket.localAddress)) {
    return textAnswer(403, foreignHost(given.host));
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return {
      ...textAnswer(405, 'this page changes nothing: it answers GET and HEAD'),
      headers: { allow: 'GET, HEAD' },
    };
  }
  const address = URL.parse(url, 'http://status');
  const route = address === null ? undefined : routeOf(address.pathname);
  if (settings.tokenFile !== undefined && route?.isOpen !== true) {
    const refusal = await tokenObstacle(given.authorization, settings.tokenFile);
    if (refusal !== undefined) return refusal;
  }
  if (address?.pathname === eventsPath && method === 'GET') return 'events';
  if (address === null || route === undefined) return textAnswer(404, 'there is nothing here: / is the overview');
  return answerOf(route, agent, { path: address.pathname, query: address.searchParams });
}

function foreignHost(host: string | undefined): string {
  const name = host === undefined ? 'without a name' : `by the name ${JSON.stringify(host.slice(0, 100))}`;
  return `the status page does not answer ${name}, since any page could have that name lead here: use localhost or the address that it listens at, or add the name to "hosts" of "status" in the config`;
}

async function tokenObstacle(authorization: string | undefined, file: string): Promise<Answer | undefined> {
  let token: string | undefined;
  try {
    token = await tokenIn(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return textAnswer(503, `the token file of the status page cannot be read (${code}), so nobody is let in`);
  }
  if (token === undefined) return textAnswer(503, 'the token file of the status page is empty, so nobody is let in');
  if (hasToken(authorization, token)) return undefined;
  const said =
    authorization === undefined
      ? 'a token is needed: send it as "Authorization: Bearer TOKEN", or as the password with any user name'
      : 'the token is not the right one';
  return {
    ...textAnswer(401, said),
    headers: { 'www-authenticate': 'Basic realm="driver-sync", charset="UTF-8", Bearer realm="driver-sync"' },
  };
}

/** A bug must not end the page, nor the agent beside it. */
function failed(error: unknown, { url }: IncomingMessage, log: Log): Answer {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const level = isAgentError(error) ? 'warn' : 'error';
  log[level]('the status page failed to answer', { path: url?.split('?', 1)[0], error: why });
  return textAnswer(500, 'a bug of the status page, which is in the log of the agent');
}

function send(response: ServerResponse, { status, type, body, headers: more }: Answer, isHead: boolean): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-type': type, 'content-length': bytes.length, ...more });
  response.end(isHead ? undefined : bytes);
}
