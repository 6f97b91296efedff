/** Which keys a server of SFTP may show: fingerprints of the config, or files like `~/.ssh/known_hosts`. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { codeOf } from '../files/access.ts';

export interface KnownKeys {
  /** Types of the keys that are known, such as `ssh-ed25519`: the server is asked for one of these. Empty: any. */
  readonly types: readonly string[];
  /** @throws AgentError `source.unreadable` for a key that is not the host's, or not known */
  check(key: Buffer): void;
}

interface Host {
  readonly host: string;
  readonly port: number;
}

function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** A key that stands in the config. */
export function pinnedKeys(host: Host, hostKeys: readonly string[]): KnownKeys {
  return {
    types: [],
    check(key) {
      const shown = fingerprintOf(key);
      if (hostKeys.some((known) => known.replace(/=$/, '') === shown)) return;
      throw changedKey(host, shown, `sftp.hostKey says ${hostKeys.join(' or ')}`);
    },
  };
}

/** @param file absolute; `undefined`: those that ssh itself reads, as far as they are there */
export async function knownHosts(host: Host, file: string | undefined): Promise<KnownKeys> {
  const files = file === undefined ? [path.join(homedir(), '.ssh/known_hosts'), '/etc/ssh/ssh_known_hosts'] : [file];
  const lines = (await Promise.all(files.map((name) => readLines(name, file !== undefined)))).flat();
  const keys = lines.flatMap((line) => parseLine(line, host) ?? []);
  return {
    types: [...new Set(keys.flatMap(({ type, isRevoked }) => (isRevoked ? [] : [type])))],
    check(key) {
      const shown = fingerprintOf(key);
      const same = keys.filter((known) => isSame(known.key, key));
      if (same.some(({ isRevoked }) => isRevoked)) {
        throw new AgentError('source.unreadable', `${nameOf(host)}: its key ${shown} is marked as revoked`, {
          hint: 'ask who runs the server which key it has now',
        });
      }
      if (same.length > 0) return;
      if (keys.length > 0) throw changedKey(host, shown, `${files.join(' and ')} know another one`);
      throw new AgentError('source.unreadable', `${nameOf(host)}: its key is not known: ${shown}`, {
        hint: `compare it with what the server says of itself (ssh-keygen -lf on its public key), then write sftp: { hostKey: "${shown}" }`,
      });
    },
  };
}

function changedKey(host: Host, shown: string, known: string): AgentError {
  return new AgentError('source.unreadable', `${nameOf(host)}: its key has changed: it is ${shown}, and ${known}`, {
    hint: 'another server may answer in its name: nothing was sent to it; where the server has a new key, write that one',
  });
}

function nameOf({ host, port }: Host): string {
  return port === 22 ? `sftp://${host}` : `sftp://${host}:${port}`;
}

async function readLines(file: string, isNamed: boolean): Promise<readonly string[]> {
  try {
    return (await readFile(file, 'utf8')).split(/\r?\n/);
  } catch (error) {
    if (!isNamed && codeOf(error) === 'ENOENT') return [];
    throw new AgentError('source.unreadable', `the file of known hosts ${file} cannot be read (${codeOf(error)})`, {
      cause: error,
      hint: 'check that file, and who may read it',
    });
  }
}

interface KnownKey {
  readonly type: string;
  readonly key: Buffer;
  readonly isRevoked: boolean;
}

/** `undefined` for a line about another host, a comment, or an authority, which sftp has no use for. */
function parseLine(line: string, host: Host): KnownKey | undefined {
  const [, marker, names = '', type = '', key = ''] = /^\s*(?:(@\S+)\s+)?([^#\s]\S*)\s+(\S+)\s+(\S+)/.exec(line) ?? [];
  if (names === '' || (marker !== undefined && marker !== '@revoked') || !isNamedBy(names, host)) return undefined;
  return { type, key: Buffer.from(key, 'base64'), isRevoked: marker !== undefined };
}

function isNamedBy(names: string, { host, port }: Host): boolean {
  const name = (port === 22 ? host : `[${host}]:${port}`).toLowerCase();
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(names) ?? [];
  if (salt !== undefined && hash !== undefined) {
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash;
  }
  const patterns = names.toLowerCase().split(',');
  const fits = (pattern: string): boolean => name === pattern || wildcard(pattern).test(name);
  return patterns.some(fits) && !patterns.some((pattern) => pattern.startsWith('!') && fits(pattern.slice(1)));
}

/** `*` and `?` alone, in a name of bounded length. */
function wildcard(pattern: string): RegExp {
  const parts = [...pattern.slice(0, 255).replaceAll(/\*+/g, '*')].map((sign) =>
    sign === '*' ? '[^,]*' : sign === '?' ? '.' : sign.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'),
  );
  return new RegExp(`^${parts.join('')}$`, 's');
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
