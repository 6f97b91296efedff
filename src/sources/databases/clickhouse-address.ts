/** The address of a ClickHouse server, which speaks HTTP: its `url`, parsed once. No message shows the password. */
import { z } from 'zod';
import { hasReadableUser } from '../../http/credentials.ts';
import type { ServerName } from './failure.ts';

export interface ClickHouseAddress extends ServerName {
  /** Without user, password and path. */
  readonly origin: string;
  readonly user: string;
  /** `undefined` where the url names none: the server's own default. */
  readonly database: string | undefined;
}

/** Longest time until the server answers a first, small question. */
const connectMaxMs = 10_000;

const example = 'write https://USER:PASSWORD@HOST:8443/DATABASE, or http://…:8123/DATABASE';
const encode = 'percent-encode special characters of the password: / is %2F, ? is %3F, # is %23, @ is %40, % is %25';

export const clickhouseUrl = z
  .string()
  .min(1)
  .transform((text, context): ClickHouseAddress => {
    const address = parseAddress(text);
    if (!('problem' in address)) return address;
    context.addIssue({ code: 'custom', message: address.problem, params: { hint: address.hint } });
    return z.NEVER;
  })
  .describe(
    'The HTTP interface of the server: https://USER:PASSWORD@HOST:8443/DATABASE, or http:// with port 8123, best as ${VARIABLE}. Special characters of the password are percent-encoded. Without a user it is `default`, without a port 8443 or 8123. It is shown without its password.',
  );

/** No part of the text is shown, since any part may be the password. */
function parseAddress(text: string): ClickHouseAddress | { readonly problem: string; readonly hint: string } {
  if (!/^https?:\/\//i.test(text.trim()))
    return { problem: 'not a url that begins with https:// or http://', hint: example };
  const url = URL.parse(text.trim());
  // A bare / ? or # in a password ends the host early, and the rest of the password would be taken for the database.
  if (url === null || url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return { problem: 'not a url that can be read', hint: `${example}; ${encode}` };
  }
  if (!hasReadableUser(url)) return { problem: 'the url has a % that stands for no character', hint: encode };
  if (url.search !== '') return { problem: 'the url has parameters', hint: example };
  const database = databaseOf(url);
  if (database === undefined) return { problem: 'the path of the url is not one database', hint: example };
  const port = url.port === '' ? usualPort(url, text) : url.port;
  const user = url.username === '' ? 'default' : decodeURIComponent(url.username);
  return {
    origin: `${url.protocol}//${url.hostname}:${port}`,
    user,
    password: decodeURIComponent(url.password),
    database: database === '' ? undefined : database,
    connectMaxMs,
    label: `${url.protocol}//${user}@${url.hostname}:${port}${database === '' ? '' : `/${database}`}`,
  };
}

/** The ports of ClickHouse, but where somebody wrote those of the web. */
function usualPort({ protocol }: URL, text: string): string {
  const [, written] = /^https?:\/\/[^/]*:(80|443)(?:\/|$)/i.exec(text.trim()) ?? [];
  return written ?? (protocol === 'https:' ? '8443' : '8123');
}

function databaseOf({ pathname }: URL): string | undefined {
  const name = pathname.slice(1).replace(/\/$/, '');
  if (name.includes('/')) return undefined;
  try {
    return decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
