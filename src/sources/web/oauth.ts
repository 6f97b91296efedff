/** Tokens of OAuth 2.0 by client credentials (RFC 6749, section 4.4): asked for once, used until they expire. */
import path from 'node:path';
import { z } from 'zod';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import { isToken, readSecret } from '../../http/credentials.ts';
import { isBusy } from '../../http/failures.ts';
import { readJson } from './json.ts';
import type { WebPlace } from './keys.ts';
import { Web } from './web.ts';
import { filePath } from '../path-key.ts';

export const oauthKey = z
  .strictObject({
    tokenUrl: z
      .string()
      .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'expected an http or https address')
      .describe('Where tokens are given, by POST.'),
    clientId: z.string().min(1).describe('Who asks.'),
    clientSecret: z.string().min(1).optional().describe('Best as `${VARIABLE}`. It is never shown.'),
    clientSecretFile: filePath
      .optional()
      .describe('A file that holds the secret alone, relative to the config file. It is read anew each time.'),
    scope: z.string().min(1).optional().describe('What the token is to be for.'),
    audience: z.string().min(1).optional().describe('Some servers want one.'),
    send: z
      .enum(['header', 'body'])
      .default('header')
      .describe('How id and secret are sent: as Basic authorization, or in the form.'),
  })
  .superRefine(({ clientSecret, clientSecretFile }, context) => {
    if ((clientSecret === undefined) !== (clientSecretFile === undefined)) return;
    context.addIssue({ code: 'custom', message: 'one of clientSecret and clientSecretFile has to be there' });
  })
  .optional()
  .describe(
    'Client credentials of OAuth 2.0, instead of a token: the token that `tokenUrl` gives is used until it expires, and asked for anew once where the server refuses it.',
  );

export type OAuthSettings = NonNullable<z.output<typeof oauthKey>>;

interface Given {
  readonly token: string;
  /** By the clock that never jumps; `undefined`: it does not say. */
  readonly endsMs: number | undefined;
}

/** A token that ends within so long is as good as ended. */
const marginMs = 30_000;

/** By the settings of a source, which stay the same object until the config is read again. */
const given = new WeakMap<OAuthSettings, Given>();

export interface OAuthPlace {
  readonly settings: OAuthSettings;
  readonly baseDir: string;
  /** Whose authorities count for the server of tokens too. */
  readonly place: Pick<WebPlace, 'caFile'>;
  readonly clock: Clock;
}

/** The token to send. @param need `fresh` where the last one was refused. @throws AgentError `source.unreadable` */
export async function accessToken(place: OAuthPlace, need: 'any' | 'fresh', signal: AbortSignal): Promise<string> {
  const { settings, clock } = place;
  const known = given.get(settings);
  const lasts = known?.endsMs === undefined || known.endsMs - clock.monotonicMs() > marginMs;
  if (known !== undefined && need === 'any' && lasts) return known.token;
  given.delete(settings);
  const next = await ask(place, signal);
  given.set(settings, next);
  return next.token;
}

const answerSchema = z.object({
  access_token: z.string().refine(isToken, 'no token'),
  // As some gateways call it.
  token_type: z
    .string()
    .regex(/^bearer(?:token)?$/i)
    .nullish(),
  // Numbers come as their text, and so do texts. Null: it does not say.
  expires_in: z
    .string()
    .regex(/^\d{1,9}(?:\.\d+)?$/)
    .nullish()
    .transform((text) => (typeof text === 'string' ? Math.floor(Number(text)) : undefined)),
});

const refusalSchema = z.object({
  access_token: z.unknown().optional(),
  error: z.unknown().optional(),
  error_description: z.string().optional().catch(undefined),
});

/** What is said instead of a token: some servers do so with status 200. */
function refusalOf(value: unknown): string | undefined {
  const { data } = refusalSchema.safeParse(value);
  const hasToken = typeof data?.access_token === 'string' && data.access_token !== '';
  if (data === undefined || hasToken || !isSaid(data.error)) return undefined;
  const { error, error_description: words } = data;
  return [typeof error === 'string' ? error : JSON.stringify(error), ...(words === undefined ? [] : [words])].join(
    ': ',
  );
}

function isSaid(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}

async function ask({ settings, baseDir, place, clock }: OAuthPlace, signal: AbortSignal): Promise<Given> {
  const { tokenUrl, clientId, clientSecret, clientSecretFile, scope, audience, send } = settings;
  const file = clientSecretFile === undefined ? undefined : path.resolve(baseDir, clientSecretFile);
  const wanted = { text: clientSecret, file, what: 'the file of clientSecretFile' };
  const secret = (await readSecret(wanted, { code: 'source.unreadable', signal })) ?? '';
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  if (send === 'body') {
    form.set('client_id', clientId);
    form.set('client_secret', secret);
  }
  // As the standard has it: encoded first.
  const basic = Buffer.from(`${formText(clientId)}:${formText(secret)}`).toString('base64');
  const url = new URL(tokenUrl);
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...(send === 'header' && { authorization: `Basic ${basic}` }),
  };
  const secrets = [secret, formText(secret), basic];
  const web = await Web.open({ url, headers: {}, token: undefined, caFile: place.caFile, secrets, hintOf }, signal);
  try {
    const question = { method: 'POST', headers, body: form.toString(), statuses: [200], redirectsMax: 0 } as const;
    const answer = await web.get(url, question, signal);
    const what = { schema: answerSchema, what: 'a token of OAuth', hint: checkTokenUrl, refusal };
    const { access_token: token, expires_in: seconds } = await readJson(web, answer, what, signal);
    return { token, endsMs: seconds === undefined ? undefined : clock.monotonicMs() + seconds * 1000 };
  } catch (error) {
    // Another server than that of the source, and often another team.
    if (!isAgentError(error)) throw error;
    throw new AgentError(error.code, `no token from oauth.tokenUrl: ${error.message}`, {
      cause: error,
      hint: error.hint,
    });
  } finally {
    web.destroy();
  }
}

const checkClient =
  'check clientId, clientSecret, scope and send of oauth: does this server know the client, and may it have the scope?';
const refusal = { of: refusalOf, hint: checkClient };
const checkTokenUrl = 'check oauth.tokenUrl: is that where tokens are given?';

function hintOf(status: number): string | undefined {
  if (status === 400 || status === 401 || status === 403) return checkClient;
  const isElsewhere = status < 500 && status !== 407 && !isBusy(status);
  return isElsewhere ? checkTokenUrl : undefined;
}

function formText(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}

/** The failure of a token that the server refused although it was fresh. */
export function refusedToken(web: Web, url: URL): AgentError {
  return web.failure(url, {
    why: 'it answered 401 to a new token',
    hint: 'check scope and audience: the token may be for something else',
  });
}
