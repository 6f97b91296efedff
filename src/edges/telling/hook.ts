/** One request to an address that is a secret: a web hook, or a heartbeat. */
import type { HookSettings } from '../../core/settings.ts';
import type { Delivery, Notice } from '../../core/telling/notice.ts';
import { isAgentError } from '../../core/errors.ts';
import { parseRetryAfter, readStart } from '../../http/answer.ts';
import { type Environment, openDispatcher, proxySecrets } from '../../http/connection.ts';
import { readAuthorities } from '../../http/credentials.ts';
import { isBusy, nameOf, networkFailure, statusHint, statusLine } from '../../http/failures.ts';
import { secretsIn } from '../../http/masking.ts';
import { hookBody } from './formats.ts';

const connectMs = 10_000;
/** So much is read of the words of a failure. */
const saidMax = 4 * 1024;
/** Shorter segments of a path are words such as `hooks`. */
const segmentMin = 6;
const code = 'config.invalid';

interface Request {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly caFile?: string | undefined;
}

export function sendToHook(
  { url, format, caFile }: HookSettings,
  { notice, key }: { readonly notice: Notice; readonly key: string },
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<Delivery> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return ask({ url: new URL(url), method: 'POST', headers, body: hookBody(notice, format), caFile }, env, signal);
}

export function sendHeartbeat(url: string, env: Environment, signal: AbortSignal): Promise<Delivery> {
  return ask({ url: new URL(url), method: 'GET', headers: {} }, env, signal);
}

/** Anything but a 2xx is a failure. A redirect is not followed: it would hand the notice to somebody who was not named. */
async function ask(request: Request, env: Environment, signal: AbortSignal): Promise<Delivery> {
  const { url, method, body, caFile } = request;
  const name = nameOf(url);
  let secrets = secretsOf(url);
  try {
    secrets = [...secrets, ...proxySecrets({ url, env, code })];
    const authorities = await readAuthorities(caFile, { code, signal });
    const dispatcher = await openDispatcher({ url, env, authorities, connectMs, code });
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { ...request.headers, ...authorization(url), 'user-agent': 'driver-sync' },
        body: body ?? null,
        reset: true,
        signal,
      });
      // A failing body that nobody reads would end the process.
      answer.body.on('error', () => undefined);
      const { statusCode: status, statusText: reason, headers } = answer;
      // Whoever says so has it, whatever becomes of the rest of the answer.
      if (status >= 200 && status < 300) return { ok: true };
      const { text } = await readStart(answer.body as AsyncIterable<Uint8Array>, saidMax);
      const line = statusLine({ status, reason, said: text }, secrets);
      const retryAfterMs = parseRetryAfter(headers, new Date());
      return { ok: false, error: `${name} answered ${line}; ${hintFor(status)}`, retryAfterMs };
    } finally {
      await dispatcher.destroy();
    }
  } catch (error) {
    if (isAgentError(error)) return { ok: false, error: error.message };
    const { why, hint } = networkFailure(error, secrets, { connectMs, silenceMs: connectMs, isTriedAgain: false });
    return { ok: false, error: `${name}: ${why}; ${hint}` };
  }
}

/** Not whether it is tried again: the caller knows, and a test message is not. */
function hintFor(status: number): string {
  if (status >= 300 && status < 400) return 'redirects are not followed: name the address that it leads to';
  if (isBusy(status)) return 'the receiver is busy';
  if (status >= 500) return 'the receiver failed: look there';
  return statusHint(status) ?? 'the receiver does not take it: check its address and the format';
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

/** Whoever knows the path of a hook can write to it, so all of it is secret. */
function secretsOf(url: URL): readonly string[] {
  const segments = url.pathname.split('/').filter((segment) => segment.length >= segmentMin);
  const { authorization: basic = '' } = authorization(url);
  return [url.href, url.pathname + url.search, ...secretsIn(url), ...segments, basic.replace('Basic ', '')].filter(
    (text) => text.length > 1,
  );
}
