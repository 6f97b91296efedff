/** The service behind HTTP: one snapshot, one POST, one outcome (DESIGN 4, Pushing). */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Dispatcher } from 'undici';
import { updatePath } from '../../contract/driver-push.ts';
import { AgentError } from '../../core/errors.ts';
import type { Clock, Destination, Log, PushResult, SnapshotBody } from '../../core/ports.ts';
import { proxyFor } from '../../http/proxy.ts';
import type { DestinationSettings, Secret } from '../../core/settings.ts';
import { type Answer, isTlsFailure, judgeAnswer, judgeFailure } from './answer.ts';
import { systemClock } from '../clock.ts';
import { openRequestBody } from './body.ts';
import { harmlessUpdate, probeSteps } from './probe.ts';
import { type Progress, openRoute } from './route.ts';

export interface HttpDestinationOptions {
  /** Of the agent, for the User-Agent. */
  readonly version: string;
  /** For `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, upper or lower case. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

const answerMaxBytes = 64 * 1024;
/** Written by the agent or by HTTP itself. */
const ownHeaders = new Set(
  (
    'connection content-encoding content-length content-type expect host keep-alive proxy-authorization te trailer ' +
    'transfer-encoding upgrade user-agent'
  ).split(' '),
);

/**
 * Opens nothing yet: every push has its own connection, reads `tokenFile` and `caFile` anew and loads undici when it is
 * first needed. Disposing ends a push under way as its signal would.
 * @throws AgentError `config.invalid` for an address or headers that cannot be used; so does `push` for a token, CA file
 *   or proxy. `push` also throws what `body.chunks()` throws.
 */
export function openHttpDestination(
  settings: DestinationSettings,
  options: HttpDestinationOptions,
): Destination & AsyncDisposable {
  const url = parseUrl(settings.url);
  checkHeaders(settings.headers);
  const closing = new AbortController();
  const attempts = new Set<Promise<Attempted>>();
  const pusher: Pusher = { settings, options, url };
  const attemptPush = (body: SnapshotBody, signal: AbortSignal): Promise<Attempted> => {
    const attempted = pushWithToken(pusher, body, AbortSignal.any([signal, closing.signal]));
    attempts.add(attempted);
    return attempted.finally(() => attempts.delete(attempted));
  };
  return {
    push: async (body, signal) => (await attemptPush(body, signal)).result,
    async probe(signal) {
      const { result, progress } = await attemptPush(harmlessUpdate, signal);
      return {
        outcome: result.outcome,
        steps: probeSteps({ url, hasToken: settings.token !== undefined, progress, result }),
      };
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new AgentError('aborted', 'the agent ends'));
      await Promise.allSettled(attempts);
    },
  };
}

interface Pusher {
  readonly settings: DestinationSettings;
  readonly options: HttpDestinationOptions;
  readonly url: URL;
}

interface Attempted {
  readonly result: PushResult;
  readonly progress: Progress;
}

async function pushWithToken(pusher: Pusher, body: SnapshotBody, signal: AbortSignal): Promise<Attempted> {
  const { token: secret } = pusher.settings;
  const { log } = pusher.options;
  const token = await readToken(secret);
  const attempted = await attempt(pusher, token, body, signal);
  const { status } = attempted.result;
  if (secret?.kind !== 'file' || (status !== 401 && status !== 403)) return attempted;
  const newer = await readToken(secret).catch((error: unknown) => {
    // The refusal is the news; a file that is gone now will be said by the next push.
    log.warn('the token file cannot be read again', { error });
    return token;
  });
  if (newer === token) return attempted;
  log.info('the token file has changed: the refused push is tried once more', { status });
  return attempt(pusher, newer, body, signal);
}

async function attempt(
  pusher: Pusher,
  token: string | undefined,
  body: SnapshotBody,
  signal: AbortSignal,
): Promise<Attempted> {
  const { settings, options, url } = pusher;
  const authorities = await readAuthorities(settings.caFile);
  const { timeoutMs } = settings;
  const { env, clock = systemClock } = options;
  const sending = openRequestBody(body, settings.compress, () => route.moved());
  const route = await openRoute({ url, env, clock, authorities, timeoutMs, isBodyLate: sending.isLate });
  const request = { url, bytes: body.bytes, secrets: secretsOf(pusher, token) };
  const stopped = new AgentError('aborted', 'the push was stopped');
  const stop = (): void => route.destroy(stopped);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw stopped;
    const head = await route.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { ...requestHeaders(pusher, token, body), ...sending.headers },
      body: sending.stream,
      // No connection outlives its push: one kept alive may be closed by the service just as the next push begins.
      reset: true,
    });
    route.answered();
    const answer = await readAnswer(head);
    if (sending.failure() === undefined) {
      const sent = { ...request, isWhole: sending.isWhole(), now: clock.now(), timeoutMs };
      return { result: judgeAnswer(answer, sent), progress: route.progress() };
    }
  } catch (error) {
    if (sending.failure() === undefined) {
      const way = route.progress();
      // What TLS dislikes came over a connection, also where undici opened it within the tunnel of a proxy.
      const progress = { ...way, isConnected: way.isConnected || isTlsFailure(error) };
      const sent = { isWhole: sending.isWhole(), sentBytes: sending.sentBytes() };
      const result = judgeFailure(route.destroyedBy() ?? error, { ...request, ...progress, ...sent, timeoutMs });
      return { result, progress };
    }
  } finally {
    signal.removeEventListener('abort', stop);
    sending.stream.destroy();
    route.destroy(new Error('the push has ended'));
  }
  throw sending.failure()?.error;
}

async function readAnswer({ statusCode, statusText, headers, body }: Dispatcher.ResponseData): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let cut: Error | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= answerMaxBytes) break;
    }
  } catch (error) {
    // The status stands; what a cut answer means is for its judge to say.
    cut = toError(error);
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, answerMaxBytes));
  return { status: statusCode, reason: statusText, headers, text, cut };
}

function requestHeaders(
  { settings, options }: Pusher,
  token: string | undefined,
  body: SnapshotBody,
): Record<string, string> {
  const host = hostname().replace(/[^\w.-]/g, '-');
  const extra = Object.entries(settings.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...Object.fromEntries(extra),
    'content-type': 'application/json',
    'user-agent': `driver-sync/${options.version} (${host}; digest ${body.digest})`,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

/** @throws AgentError `config.invalid` */
async function readToken(secret: Secret | undefined): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  const text = secret.kind === 'file' ? await readConfigFile('tokenFile', secret.file) : secret.text;
  const token = text.trim();
  if (token !== '' && isHeaderText(token)) return token;
  const where = secret.kind === 'file' ? `the token file ${secret.file}` : 'the token';
  const what = token === '' ? 'is empty' : 'holds characters that no header can carry';
  throw new AgentError('config.invalid', `${where} ${what}`, { hint: 'it must hold the token and nothing else' });
}

/** The named authorities beside those that Node trusts by default, so that public services stay reachable. */
async function readAuthorities(caFile: string | undefined): Promise<readonly string[] | undefined> {
  if (caFile === undefined) return undefined;
  const pem = await readConfigFile('caFile', caFile);
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new AgentError('config.invalid', `the caFile ${caFile} holds no certificate`, { hint: 'it must be in PEM' });
  }
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), pem];
}

async function readConfigFile(key: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable';
    const hint = `check destination.${key} and who may read that file`;
    throw new AgentError('config.invalid', `the ${key} ${file} cannot be read (${code})`, { cause, hint });
  }
}

function parseUrl(text: string): URL {
  const full = `${text.replace(/\/+$/, '')}${updatePath}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new AgentError('config.invalid', 'destination.url is not an address', {
      hint: 'write it like https://drivers.example.com',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new AgentError('config.invalid', 'destination.url holds a user or a password', {
      hint: 'use token, tokenFile or headers',
    });
  }
  return url;
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem === undefined) continue;
    throw new AgentError('config.invalid', `destination.headers: ${JSON.stringify(name)} ${problem}`, {
      hint: 'correct it or leave it out',
    });
  }
}

function headerProblem(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return 'is no name of a header';
  if (ownHeaders.has(name.toLowerCase())) return 'is set by the agent itself';
  return isHeaderText(value) ? undefined : 'has characters that no header can carry';
}

function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

function secretsOf({ settings, options, url }: Pusher, token: string | undefined): string[] {
  const proxy = proxyFor(url, options.env, 'config.invalid');
  const { username = '', password = '' } = proxy === '' ? {} : new URL(proxy);
  return [token ?? '', ...Object.values(settings.headers), username, password, decodeURIComponent(password)];
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
