/** The service behind HTTP: one snapshot, one POST, one outcome. */
import { hostname } from 'node:os';
import { updatePath } from '../../contract/update-path.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Clock, Destination, Log, PushResult, SnapshotBody } from '../../core/ports.ts';
import { readStart } from '../../http/answer.ts';
import { proxySecrets } from '../../http/connection.ts';
import { isHeaderName, isHeaderText, protocolHeaders, readAuthorities, readToken } from '../../http/credentials.ts';
import { isTlsFailure } from '../../http/failures.ts';
import type { DestinationSettings } from '../../core/settings.ts';
import { type SentPush, judgeAnswer, judgeFailure } from './answer.ts';
import { systemClock } from '../clock.ts';
import { openRequestBody } from './body.ts';
import { harmlessUpdate, probeSteps } from './probe.ts';
import { type Progress, openRoute } from './route.ts';

export interface HttpDestinationOptions {
  /** Version of the agent, for the User-Agent. */
  readonly version: string;
  /** For `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, upper or lower case. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** So much of an answer is read, to say what it is. */
const answerMaxBytes = 64 * 1024;
/** Set by the agent or by HTTP itself. */
const ownHeaders = new Set([...protocolHeaders, 'content-encoding', 'content-type', 'user-agent']);

/**
 * Opens nothing yet: every push has its own connection, reads `tokenFile` and `caFile` anew and loads what sends it when
 * it is first needed. Disposing ends a push under way as its signal would.
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
  const attemptPush = (body: SnapshotBody, signal: AbortSignal, confirm?: Pusher['confirm']): Promise<Attempted> => {
    const pusher: Pusher = { settings, options, url, confirm };
    const attempted = pushWithToken(pusher, body, AbortSignal.any([signal, closing.signal]));
    attempts.add(attempted);
    return attempted.finally(() => attempts.delete(attempted));
  };
  return {
    push: async (body, signal, confirm) => (await attemptPush(body, signal, confirm)).result,
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
  readonly confirm: (() => Promise<void>) | undefined;
}

const stopped = new AgentError('aborted', 'the push was stopped');

interface Attempted {
  readonly result: PushResult;
  readonly progress: Progress;
}

/** Read anew for each push. */
interface Access {
  readonly token: string | undefined;
  readonly authorities: readonly string[] | undefined;
}

async function readAccess({ settings }: Pusher, signal: AbortSignal): Promise<Access> {
  const reading = { code: 'config.invalid', signal } as const;
  return {
    token: await readToken(settings.token, reading),
    authorities: await readAuthorities(settings.caFile, reading),
  };
}

async function pushWithToken(pusher: Pusher, body: SnapshotBody, signal: AbortSignal): Promise<Attempted> {
  const { settings, options } = pusher;
  const access = await readAccess(pusher, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return undefined;
  });
  if (access === undefined) {
    const result = { outcome: 'unreachable', maybeTaken: false, detail: stopped.message } as const;
    return { result, progress: { isConnected: false, isReached: false } };
  }
  const attempted = await attempt(pusher, access, body, signal);
  const { status } = attempted.result;
  if (settings.token?.kind !== 'file' || (status !== 401 && status !== 403)) return attempted;
  const newer = await readAccess(pusher, signal).catch((error: unknown) => {
    // The refusal is what counts now; the next push will say that the file is gone.
    options.log.warn('the token file cannot be read again', { error });
    return access;
  });
  if (newer.token === access.token) return attempted;
  options.log.info('the token file has changed: the refused push is tried once more', { status });
  return attempt(pusher, newer, body, signal);
}

async function attempt(
  pusher: Pusher,
  { token, authorities }: Access,
  body: SnapshotBody,
  signal: AbortSignal,
): Promise<Attempted> {
  const { settings, options, url } = pusher;
  const { timeoutMs } = settings;
  const { env, clock = systemClock } = options;
  let refused: AgentError | undefined;
  const ask = pusher.confirm;
  const confirm =
    ask &&
    (async () => {
      await route.flushed();
      // Not the network's silence. It ends all the same: each statement of the ledger does after 30 s, and with the lead `signal`.
      await ask().catch((error: unknown) => {
        if (isAgentError(error)) refused = error;
        throw error;
      });
    });
  const sending = openRequestBody(body, { compress: settings.compress, moved: () => route.moved(), confirm });
  const route = await openRoute({ url, env, clock, authorities, timeoutMs, isBodyLate: sending.isLate });
  const secrets = secretsOf(pusher, token);
  const sent = (): SentPush => {
    return { url, bytes: body.bytes, sentBytes: sending.sentBytes(), isWhole: sending.isWhole(), timeoutMs, secrets };
  };
  const stop = (): void => route.destroy(stopped);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw stopped;
    const {
      status,
      reason,
      headers,
      body: said,
    } = await route.send({
      url,
      headers: { ...requestHeaders(pusher, token, body), ...sending.headers },
      body: sending.stream,
    });
    route.answered();
    const { text, cut } = await readStart(said, answerMaxBytes);
    const answer = { status, reason, headers, text, cut };
    if (sending.failure() === undefined) {
      return { result: judgeAnswer(answer, sent(), clock.now()), progress: route.progress() };
    }
  } catch (error) {
    if (refused !== undefined) {
      const detail = `broken off before its last bytes: ${refused.message}`;
      return { result: { outcome: 'unreachable', detail, maybeTaken: false }, progress: route.progress() };
    }
    if (sending.failure() === undefined) {
      const way = route.progress();
      // What TLS dislikes came over a connection, also where undici opened it within the tunnel of a proxy.
      const progress = { ...way, isConnected: way.isConnected || isTlsFailure(error) };
      return { result: judgeFailure(route.destroyedBy() ?? error, sent(), progress), progress };
    }
  } finally {
    signal.removeEventListener('abort', stop);
    sending.stream.destroy();
    route.destroy(new Error('the push has ended'));
  }
  throw sending.failure()?.error;
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

function parseUrl(text: string): URL {
  const full = `${text.replace(/\/+$/, '')}${updatePath}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new AgentError('config.invalid', 'destination.url is not an http or https address', {
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
  if (!isHeaderName(name)) return 'is not a name for a header';
  if (ownHeaders.has(name.toLowerCase())) return 'is set by the agent itself';
  return isHeaderText(value) ? undefined : 'has characters that no header can carry';
}

function secretsOf({ settings, options, url }: Pusher, token: string | undefined): string[] {
  const proxy = proxySecrets({ url, env: options.env, code: 'config.invalid' });
  return [token ?? '', ...Object.values(settings.headers), ...proxy];
}
