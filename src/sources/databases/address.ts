/** The address of a database server: its `url` and `caFile`, parsed once. No message shows the password. */
import path from 'node:path';
import { z } from 'zod';
import type { DatabaseAddress, SslMode } from '../../core/settings.ts';
import { filePath } from '../path-key.ts';

/** For MySQL too. */
const sslModes: readonly SslMode[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

export type Address = DatabaseAddress;

/** The form of an engine's urls. */
export interface AddressForm {
  /** The usual one first. */
  readonly schemes: readonly [string, ...string[]];
  readonly port: number;
  /** `HOST,HOST`: one of them can be written, and which one may change. */
  readonly hasManyHosts?: true;
}

const connectMaxSeconds = 10;

/** The keys that say where a server is; `url` becomes an `Address`. */
export function addressKeys(form: AddressForm): AddressKeys {
  const [scheme] = form.schemes;
  const url = z
    .string()
    .min(1)
    .transform((text, context): Address => {
      const address = form.hasManyHosts === true ? parseHosts(text, form) : parseAddress(text, form);
      if (!('problem' in address)) return address;
      context.addIssue({ code: 'custom', message: address.problem, params: { hint: address.hint } });
      return z.NEVER;
    })
    .describe(
      `${scheme}://USER:PASSWORD@HOST:${form.port}/DATABASE, best as \${VARIABLE}. Special characters of the password are percent-encoded. ${form.hasManyHosts === true ? 'HOST:PORT,HOST:PORT names several, of which the one that can be written is taken. ' : ''}Parameters: sslmode=disable, prefer, require, verify-ca or verify-full; host=/PATH for a unix socket; connect_timeout=SECONDS (${connectMaxSeconds}); user, password and dbname. It is shown without its password.`,
    );
  const caFile = filePath
    .optional()
    .describe(
      "A PEM file of further authorities for the server's certificate, relative to the config file. With it sslmode is verify-full unless the url says otherwise.",
    );
  return { url, caFile };
}

export interface AddressKeys {
  readonly url: z.ZodType<Address, string>;
  readonly caFile: z.ZodOptional<z.ZodString>;
}

/** Absolute path of a `caFile`. */
export function caFilePath(baseDir: string, caFile: string | undefined): string | undefined {
  return caFile === undefined ? undefined : path.resolve(baseDir, caFile);
}

/** Several hosts are as many addresses, alike but for that. */
function parseHosts(text: string, form: AddressForm): Address | AddressProblem {
  const [, before = '', hosts = '', behind = ''] = /^([^/]*\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text.trim()) ?? [];
  const names = hosts.split(',');
  if (names.length === 1) return parseAddress(text, form);
  if (names.includes('')) return { problem: 'the url has a comma without a host', hint: 'write HOST:PORT,HOST:PORT' };
  const parsed = names.map((name) => parseAddress(`${before}${name}${behind}`, form));
  const problem = parsed.find((one) => 'problem' in one);
  if (problem !== undefined) return problem;
  const [first, ...others] = parsed as Address[] as [Address, ...Address[]];
  const places = [first, ...others].map(({ label }) => /@([^/]*)/.exec(label)?.[1]).join(',');
  return { ...first, label: first.label.replace(/@[^/]*/, `@${places}`), others };
}

/** Why a text is not the url of a server. No part of the text is shown, since any part may be the password. */
interface AddressProblem {
  readonly problem: string;
  readonly hint: string;
}

function parseAddress(text: string, form: AddressForm): Address | AddressProblem {
  const [scheme] = form.schemes;
  const example = `write ${scheme}://USER:PASSWORD@HOST:${form.port}/DATABASE`;
  // A unix socket is written without a host, and `URL` accepts no user without one.
  const url = URL.parse(text.trim().replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost'));
  const isOurs = form.schemes.some((known) => text.trim().toLowerCase().startsWith(`${known}://`));
  if (!isOurs) return { problem: `not a url that begins with ${form.schemes.join(':// or ')}://`, hint: example };
  // A bare / ? or # in a password ends the host early, and the rest of the password would be taken for the database.
  const encode = 'percent-encode special characters of the password: / is %2F, ? is %3F, # is %23, @ is %40, % is %25';
  if (url === null || url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return { problem: 'not a url that can be read', hint: `${example}; ${encode}` };
  }
  const parameters = new Map(url.searchParams);
  const unknown = [...parameters.keys()].find((name) => !parameterNames.includes(name));
  if (unknown !== undefined) {
    return { problem: 'the url has an unknown parameter', hint: `known are ${parameterNames.join(', ')}` };
  }
  const decoded = decodeAll([
    url.hostname.replace(/^\[(.*)\]$/, '$1'),
    url.username,
    url.password,
    url.pathname.slice(1),
  ]);
  if (decoded === undefined) return { problem: 'the url has a % that stands for no character', hint: encode };
  const [hostname = '', username = '', password = '', pathname = ''] = decoded;
  return checkAddress(form, {
    host: parameters.get('host') ?? hostname,
    port: url.port,
    user: parameters.get('user') ?? username,
    password: parameters.get('password') ?? password,
    database: parameters.get('dbname') ?? pathname,
    sslMode: parameters.get('sslmode'),
    connectTimeout: parameters.get('connect_timeout') ?? String(connectMaxSeconds),
  });
}

const parameterNames: readonly string[] = ['sslmode', 'host', 'connect_timeout', 'user', 'password', 'dbname'];

interface AddressTexts extends Record<'host' | 'port' | 'user' | 'password' | 'database' | 'connectTimeout', string> {
  readonly sslMode: string | undefined;
}

function checkAddress({ schemes, port }: AddressForm, texts: AddressTexts): Address | AddressProblem {
  const { user, password, database } = texts;
  const sslMode = sslModes.find((mode) => mode === texts.sslMode);
  if (texts.sslMode !== undefined && sslMode === undefined) {
    return { problem: 'the url has an unknown sslmode', hint: `there are ${sslModes.join(', ')}` };
  }
  if (!/^[1-9]\d{0,2}$/.test(texts.connectTimeout)) {
    return { problem: 'connect_timeout in the url is not a number of seconds', hint: 'write 1 to 999' };
  }
  if (user === '')
    return { problem: 'the url names no user', hint: `write ${schemes[0]}://USER:PASSWORD@HOST/DATABASE` };
  const host = texts.host === '' ? 'localhost' : texts.host;
  const socketPath = host.startsWith('/') ? host : undefined;
  const at = socketPath ?? `${host.includes(':') ? `[${host}]` : host}:${texts.port === '' ? port : texts.port}`;
  return {
    host,
    port: texts.port === '' ? port : Number(texts.port),
    socketPath,
    user,
    password,
    database: database === '' ? undefined : database,
    sslMode,
    connectMaxMs: Number(texts.connectTimeout) * 1000,
    label: `${schemes[0]}://${user}@${at}${database === '' ? '' : `/${database}`}`,
  };
}

function decodeAll(texts: readonly string[]): readonly string[] | undefined {
  try {
    return texts.map((text) => decodeURIComponent(text));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
