/** The config keys of every kind that asks an address on the web, and the place that they describe. */
import path from 'node:path';
import { z } from 'zod';
import type { Secret } from '../../core/settings.ts';
import { secretsIn } from '../../http/masking.ts';
import { hasReadableUser, isHeaderName, isHeaderText, isToken, protocolHeaders } from '../../http/credentials.ts';
import { filePath } from '../path-key.ts';

/** Set by HTTP or the agent: another value would break the request, or change what its answer means. */
const ownHeaders = new Set([
  ...protocolHeaders,
  ...'if-match if-modified-since if-none-match if-range if-unmodified-since range'.split(' '),
]);

/** No message shows a refused text: it may hold a password. */
export const urlKey = z.string().superRefine((text, context) => {
  const refuse = (message: string, hint: string): void =>
    context.addIssue({ code: 'custom', message, params: { hint } });
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    refuse('expected an http or https address', 'such as https://reports.example.com/revenue.csv');
  } else if (url.hash !== '') refuse('a fragment in the address', 'end it before "#": a server never sees the rest');
  else if (!hasReadableUser(url)) refuse('a user or password that is not well written', 'write % as %25');
});

export const accessKeys = {
  token: z
    .string()
    .refine(isToken, 'the token is empty, or has a character that no token has')
    .optional()
    .describe('Sent as `Authorization: Bearer`. Best from the environment: `${REPORTS_TOKEN}`.'),
  tokenFile: filePath
    .optional()
    .describe('A file that holds the token alone, relative to the config file. It is read anew each time.'),
  headers: z
    .record(z.string(), z.string().refine(isHeaderText, 'a line end or another character that no header may have'))
    .prefault({})
    .describe('Sent along. Their values may be secrets: they are never shown, and never sent to another host.'),
  caFile: filePath
    .optional()
    .describe('A PEM file of further authorities that may vouch for the server, relative to the config file.'),
};

/** What `urlKey` and `accessKeys` are parsed to. */
export type WebSettings = z.output<z.ZodObject<typeof accessKeys>> & { readonly url: string };

/** For the `superRefine` of every schema with these keys. */
export function checkWeb({ url, token, tokenFile, headers }: WebSettings, context: z.RefinementCtx): void {
  const refuse = (at: readonly string[], message: string, hint: string): void =>
    context.addIssue({ code: 'custom', path: [...at], message, params: { hint } });
  const { username = '', password = '' } = URL.parse(url) ?? {};
  const hasUser = `${username}${password}` !== '';
  const hasToken = token !== undefined || tokenFile !== undefined;
  if (token !== undefined && tokenFile !== undefined) {
    refuse(['tokenFile'], 'token and tokenFile are both there', 'keep one of the two');
  }
  if (hasUser && hasToken) {
    refuse(['url'], 'credentials in the address, and a token', 'keep one of the two');
  }
  const seen = new Set<string>();
  for (const key of Object.keys(headers)) {
    const name = key.toLowerCase();
    const at = ['headers', key];
    if (!isHeaderName(name)) refuse(at, 'not a name for a header', 'use letters, digits and "-"');
    else if (ownHeaders.has(name)) refuse(at, `the agent sets the header ${name} itself`, 'remove it');
    else if (name === 'authorization' && (hasUser || hasToken)) {
      refuse(at, 'the header authorization is set by the token or the address already', 'keep one of the two');
    } else if (seen.has(name)) refuse(at, `the header ${name} is written twice`, 'keep one of the two');
    seen.add(name);
  }
}

/** An address and what is sent there. */
export interface WebPlace {
  /** Without user and password. */
  readonly url: URL;
  /** By lower-case name. Sent to this origin only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly token: Secret | undefined;
  /** Absolute. */
  readonly caFile: string | undefined;
  /** Every secret of the fields above but the token of a file. */
  readonly secrets: readonly string[];
  /** What to do about a status and the words with it, where the keys of a config are others than those of a report. */
  readonly hintOf?: (status: number, said: string) => string | undefined;
}

export function webPlaceOf(settings: WebSettings, baseDir: string): WebPlace {
  const url = new URL(settings.url);
  const secrets = secretsIn(url);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = '';
  url.password = '';
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const { tokenFile, token } = settings;
  const given = Object.entries(settings.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    url,
    headers: { ...Object.fromEntries(given), ...(`${user}${password}` !== '' && { authorization: `Basic ${basic}` }) },
    token:
      tokenFile !== undefined
        ? { kind: 'file', file: path.resolve(baseDir, tokenFile) }
        : token === undefined
          ? undefined
          : { kind: 'text', text: token },
    caFile: settings.caFile === undefined ? undefined : path.resolve(baseDir, settings.caFile),
    secrets: [...secrets, basic, token ?? '', ...Object.values(settings.headers)],
  };
}
