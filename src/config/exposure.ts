/** Finds what other users of the machine or the network could read or change in a config. `check` warns of it. */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from '../core/settings.ts';
import { isLoopback, parseSmtp } from '../core/telling/smtp.ts';
import type { RemotePattern } from '../sources/remote/address.ts';

/** @param modeOf permissions of a file, `undefined` where it cannot be asked for them */
export function exposureWarnings(settings: Settings, modeOf: (file: string) => number | undefined): readonly string[] {
  const { file, destination } = settings;
  const baseDir = path.dirname(file);
  const warnings: string[] = [];
  if (isSet(modeOf(file), othersWrite)) {
    warnings.push(`every user of this machine can change ${file}, and with it what is pushed and where: chmod o-w`);
  }
  const addresses: readonly Address[] = [
    ...(destination === 'emulator' ? [] : [addressOfDestination(destination)]),
    ...settings.sources.flatMap(({ name, kind }) => addressesOfSource(name, kind, baseDir)),
    ...hookAddresses(settings),
  ];
  for (const { where, url, hasSecret, tokenFile } of addresses) {
    if (hasSecret && /^(http|smtp):$/.test(url.protocol) && !isLoopback(url.hostname)) {
      warnings.push(
        `${where}: what it says to ${url.host} to be let in crosses the network unencrypted: use ${url.protocol.slice(0, -1)}s`,
      );
    }
    const mode = tokenFile === undefined ? undefined : modeOf(tokenFile);
    const others = isSet(mode, othersWrite) ? 'change' : isSet(mode, othersRead) ? 'read' : undefined;
    if (others !== undefined) {
      warnings.push(`${where}: every user of this machine can ${others} the token file ${tokenFile}: chmod 600`);
    }
  }
  warnings.push(...statusWarnings(settings.status, modeOf));
  return [...new Set(warnings)];
}

/** The page shows values, names of files and reasons to whoever can reach it. */
function statusWarnings(status: Settings['status'], modeOf: (file: string) => number | undefined): readonly string[] {
  if (status === undefined) return [];
  const { host, port, tokenFile } = status;
  const shown = host.includes(':') ? `[${host}]` : host;
  if (tokenFile === undefined) {
    if (isLoopback(shown)) return [];
    return [`status: whoever reaches ${shown}:${port} sees the numbers: set tokenFile, or listen at 127.0.0.1`];
  }
  const mode = modeOf(tokenFile);
  const others = isSet(mode, othersWrite) ? 'change' : isSet(mode, othersRead) ? 'read' : undefined;
  if (others === undefined) return [];
  return [`status: every user of this machine can ${others} the token file ${tokenFile}: chmod 600`];
}

/** Permissions of a file, through links; `undefined` where nobody can look at it or the system has no such permissions. */
export function fileMode(file: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return statSync(file).mode;
  } catch {
    return undefined;
  }
}

const othersRead = 0o004;
const othersWrite = 0o002;

function isSet(mode: number | undefined, bits: number): boolean {
  return mode !== undefined && (mode & bits) !== 0;
}

interface Address {
  readonly where: string;
  readonly url: URL;
  /** A token, or a user and password, goes there. */
  readonly hasSecret: boolean;
  /** Absolute. */
  readonly tokenFile: string | undefined;
}

function addressOfDestination({ url, token, headers }: Exclude<Settings['destination'], 'emulator'>): Address {
  return {
    where: 'destination',
    url: new URL(url),
    hasSecret: token !== undefined || hasAuthorization(headers),
    tokenFile: token?.kind === 'file' ? token.file : undefined,
  };
}

type Keys = Readonly<Record<string, unknown>>;

/** Kinds of sources that ask the web have these keys; the url of a database is of another protocol. */
function addressesOfSource(name: string, kind: unknown, baseDir: string): Address[] {
  const { url, token, tokenFile, headers, oauth, files, ...access } = kind as Keys;
  const where = `source ${name}`;
  const add = (text: unknown, hasSecret: boolean, file: unknown): Address[] => {
    const parsed = typeof text === 'string' ? URL.parse(text) : null;
    if (parsed === null) return [];
    const named = typeof file === 'string' ? path.resolve(baseDir, file) : undefined;
    return [{ where, url: parsed, hasSecret: hasSecret || parsed.username + parsed.password !== '', tokenFile: named }];
  };
  const hasToken = token !== undefined || tokenFile !== undefined || oauth !== undefined;
  const { tokenUrl, clientSecretFile } = (oauth ?? {}) as Keys;
  return [
    ...add(url, hasToken || hasAuthorization(headers), tokenFile),
    ...add(tokenUrl, true, clientSecretFile),
    ...(Array.isArray(files) ? files : []).flatMap((pattern: string | RemotePattern) => {
      if (typeof pattern === 'string') return [];
      const { protocol, root, user, password } = pattern;
      const keys = access[protocol] as Keys | undefined;
      const file = ['tokenFile', 'passwordFile', 'keyFile', 'secretAccessKeyFile'].find(
        (key) => keys?.[key] !== undefined,
      );
      const hasSecret = keys !== undefined || user !== undefined || password !== undefined;
      return add(root, hasSecret, file === undefined ? undefined : keys?.[file]);
    }),
  ];
}

/** Whoever knows the address of a hook may write to it. A mail server is asked for TLS unless its address says otherwise. */
function hookAddresses({ notify, heartbeat }: Settings): readonly Address[] {
  const addresses = notify.flatMap((channel): [string, string][] => {
    if (channel.kind === 'hook') return [['notify', channel.url]];
    const server = parseSmtp(channel.smtp);
    return 'problem' in server || server.tls !== 'none' ? [] : [['notify', channel.smtp]];
  });
  if (heartbeat !== undefined) addresses.push(['heartbeat', heartbeat]);
  return addresses.map(([where, url]) => ({ where, url: new URL(url), hasSecret: true, tokenFile: undefined }));
}

function hasAuthorization(headers: unknown): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
}
