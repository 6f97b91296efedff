/** Files of SFTP servers. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attributes, Client, ConnectConfig, FileEntry, SFTPWrapper } from 'ssh2';
import { AgentError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import { readSecret } from '../../http/credentials.ts';
import { networkFailure } from '../../http/failures.ts';
import { oneLine } from '../../http/masking.ts';
import { freshVersion } from '../kind.ts';
import { codeOf, untilAborted } from '../files/access.ts';
import type { RemotePattern } from './address.ts';
import { knownHosts, pinnedKeys } from './host-key.ts';
import type { SftpSettings } from './keys.ts';
import { type FolderEntry, type RemoteFile, type RemoteStore, changedFile, goneFile, walkFolders } from './store.ts';

const connectMs = 30_000;
/** Silence of a connection is broken, and three that are not answered end it. */
const keepaliveMs = 20_000;
/** Times have seconds: one that is younger may stay the same although the content changes. */
const youngMs = 2000;

const noSuchFile = 2;
const permissionDenied = 3;
const typeMask = 0o170_000;
const kinds: Readonly<Record<number, Kind>> = { 0o120_000: 'link', 0o040_000: 'folder', 0o100_000: 'file' };
/** What `ls -l` begins a line with: some servers say it nowhere else. */
const letters: Readonly<Record<string, Kind>> = { l: 'link', d: 'folder', '-': 'file' };

type Kind = 'link' | 'folder' | 'file' | 'other';

interface Surroundings {
  readonly baseDir: string;
  readonly clock: Clock;
}

/** @throws AgentError `source.unreadable` where it cannot be reached, shows another key, or does not let the user in */
export async function openSftp(
  pattern: RemotePattern,
  settings: SftpSettings,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<RemoteStore> {
  const { Client: SshClient } = await import('ssh2').catch((error: unknown) => {
    throw new AgentError('source.unreadable', 'sftp:// needs the package ssh2', {
      cause: error,
      hint: 'npm install ssh2, beside the agent',
    });
  });
  const { config, secrets, refused } = await configOf(pattern, settings, surroundings, signal);
  const client = new SshClient();
  const stop = (): void => void client.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await untilAborted(ready(client, config), signal);
    return new Server(client, await untilAborted(startSftp(client), signal), { pattern, clock: surroundings.clock });
  } catch (error) {
    client.destroy();
    signal.throwIfAborted();
    throw refused() ?? connectionFailure(pattern, error, secrets);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function configOf(
  { host, port = 22, ...given }: RemotePattern,
  settings: SftpSettings,
  { baseDir }: Surroundings,
  signal: AbortSignal,
): Promise<{ readonly config: ConnectConfig; readonly secrets: readonly string[]; readonly refused: () => unknown }> {
  const { keyFile, passphrase, hostKey, knownHosts: hosts } = settings;
  const absolute = (file: string | undefined): string | undefined => file && path.resolve(baseDir, file);
  const user = settings.user ?? given.user;
  if (user === undefined) {
    throw new AgentError('source.unreadable', `${given.root} names no user`, { hint: 'write sftp://USER@HOST/…' });
  }
  const secret = {
    text: settings.password ?? given.password,
    file: absolute(settings.passwordFile),
    what: 'the file of passwordFile',
  };
  const password = await readSecret(secret, { code: 'source.unreadable', signal });
  const privateKey = keyFile === undefined ? undefined : await readKey(path.resolve(baseDir, keyFile));
  const known =
    hostKey === undefined ? await knownHosts({ host, port }, absolute(hosts)) : pinnedKeys({ host, port }, hostKey);
  let refusal: unknown;
  const config: ConnectConfig = {
    host,
    port,
    username: user,
    readyTimeout: connectMs,
    keepaliveInterval: keepaliveMs,
    ...(password !== undefined && { password, tryKeyboard: true }),
    ...(privateKey !== undefined && { privateKey }),
    ...(passphrase !== undefined && { passphrase }),
    ...(known.types.length > 0 && { algorithms: { serverHostKey: signaturesOf(known.types) } }),
    hostVerifier: (key: Buffer) => {
      try {
        known.check(key);
        return true;
      } catch (error) {
        refusal = error;
        return false;
      }
    },
  };
  return { config, secrets: [password ?? '', passphrase ?? ''], refused: () => refusal };
}

/** One key of RSA signs in several ways. */
function signaturesOf(
  types: readonly string[],
): NonNullable<NonNullable<ConnectConfig['algorithms']>['serverHostKey']> {
  const all = types.flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type]));
  return all as ReturnType<typeof signaturesOf>;
}

async function readKey(file: string): Promise<Buffer> {
  return await readFile(file).catch((error: unknown) => {
    throw new AgentError('source.unreadable', `the keyFile ${file} cannot be read (${codeOf(error)})`, {
      cause: error,
      hint: 'check that file, and who may read it; paths are relative to the config file',
    });
  });
}

async function ready(client: Client, config: ConnectConfig): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.on('ready', resolve);
  // Later failures reach whoever waits for an answer.
  client.on('error', reject);
  client.on('close', () => reject(new Error('the connection was closed')));
  client.on('keyboard-interactive', (...asked) => {
    const [, , , prompts, answer] = asked;
    answer(prompts.map(({ echo }) => (echo === true ? config.username : config.password) ?? ''));
  });
  client.connect(config);
  // Requests are short and wait for their answers: 40 ms for each one where the system waits for more to send.
  client.setNoDelay();
  await promise;
}

async function startSftp(client: Client): Promise<SFTPWrapper> {
  const { promise, resolve, reject } = Promise.withResolvers<SFTPWrapper>();
  client.on('close', () => reject(new Error('the connection was closed')));
  client.sftp((error, sftp) => (error === undefined ? resolve(sftp) : reject(error)));
  return await promise;
}

function connectionFailure({ root }: RemotePattern, error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const name = root.replace(/\/$/, '');
  const fail = (why: string, hint: string): AgentError =>
    new AgentError('source.unreadable', `${name}: ${why}`, { hint });
  const level = 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') {
    return fail('it does not let the user in', 'check user, password and keyFile; is the public key on the server?');
  }
  if (level === 'client-timeout') {
    return fail(`no connection within ${connectMs / 1000} s`, 'check host and port, and the firewalls on the way');
  }
  if (/parse privateKey|passphrase/i.test(error.message)) {
    return fail(
      `the private key cannot be used: ${oneLine(error.message, secrets)}`,
      'is it a key of OpenSSH or in PEM, and is the passphrase right?',
    );
  }
  const { why, hint } = networkFailure(error, secrets, { connectMs, silenceMs: keepaliveMs });
  return fail(why, hint);
}

class Server implements RemoteStore {
  readonly #client: Client;
  readonly #sftp: SFTPWrapper;
  readonly #pattern: RemotePattern;
  readonly #clock: Clock;
  readonly #broken: Promise<never>;
  #isOpen = true;

  constructor(client: Client, sftp: SFTPWrapper, { pattern, clock }: { pattern: RemotePattern; clock: Clock }) {
    this.#client = client;
    this.#sftp = sftp;
    this.#pattern = pattern;
    this.#clock = clock;
    const broken = Promise.withResolvers<never>();
    this.#broken = broken.promise;
    // Where nobody waits, nothing is lost.
    broken.promise.catch(() => {
      this.#isOpen = false;
    });
    client.on('error', (error) => broken.reject(error));
    const closed = (): void => broken.reject(new Error('the connection was closed'));
    client.on('close', closed);
    // The server may end this part of the connection alone.
    sftp.on('end', closed).on('close', closed);
    sftp.on('error', (error: Error) => broken.reject(error));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async find(pattern: RemotePattern, signal: AbortSignal): Promise<readonly RemoteFile[]> {
    return await walkFolders(pattern, (directory, inner) => this.#list(directory, inner), signal);
  }

  async look(file: RemoteFile, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const stats = await this.#stat(file.path, signal);
    return stats === undefined ? undefined : this.#fileOf(file.path, stats);
  }

  async *read(file: RemoteFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const stop = (): void => void this.#client.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const stream = this.#sftp.createReadStream(this.#absolute(file.path), { highWaterMark: 256 * 1024 });
      const end = (error: Error): void => void stream.destroy(error);
      this.#broken.catch(end);
      for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
      signal.throwIfAborted();
      const now = await this.look(file, signal);
      if (now === undefined) throw goneFile(file);
      if (!isSameVersion(now, file)) throw changedFile(file);
    } catch (error) {
      signal.throwIfAborted();
      if (statusOf(error) === noSuchFile) throw goneFile(file);
      throw this.#failure(file.path, error, 'part.unreadable');
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#client.end();
  }

  async #list(directory: string, signal: AbortSignal): Promise<readonly FolderEntry[] | undefined> {
    const entries = await this.#call<readonly FileEntry[]>(directory, signal, (done) =>
      this.#sftp.readdir(this.#absolute(directory), done),
    );
    if (entries === undefined) return undefined;
    const found: FolderEntry[] = [];
    for (const { filename: name, longname, attrs } of entries) {
      if (name === '.' || name === '..') continue;
      const at = directory === '' ? name : `${directory}/${name}`;
      if (name.includes('\uFFFD')) {
        throw new AgentError('source.unreadable', `${this.#pattern.root}${at}: that name is not utf-8`, {
          hint: 'rename it',
        });
      }
      const kind = kindOf(attrs, longname);
      const isLink = kind === 'link';
      const stats = isLink ? await this.#stat(at, signal) : attrs;
      // A link that leads nowhere, or a file that has gone meanwhile.
      if (stats === undefined) {
        if (isLink) found.push({ name, file: undefined, isLink, problem: this.#leadsNowhere(at) });
        continue;
      }
      const target = isLink ? kindOf(stats) : kind;
      if (target === 'folder') found.push({ name, file: undefined, isLink });
      else if (target === 'file') found.push({ name, file: this.#fileOf(at, stats) });
      else if (target === undefined) found.push({ name, file: undefined, isLink, problem: this.#unknownKind(at) });
    }
    return found;
  }

  #leadsNowhere(at: string): AgentError {
    return new AgentError('source.unreadable', `${this.#pattern.root}${at} is a link that leads nowhere`, {
      hint: 'remove the link, or mount what it leads to',
    });
  }

  #unknownKind(at: string): AgentError {
    const why = 'the server does not say whether that is a file or a folder';
    return new AgentError('source.unreadable', `${this.#pattern.root}${at}: ${why}`, {
      hint: 'look at the settings of the server: its lists lack permissions',
    });
  }

  async #stat(at: string, signal: AbortSignal): Promise<Attributes | undefined> {
    return await this.#call<Attributes>(at, signal, (done) => this.#sftp.stat(this.#absolute(at), done));
  }

  /** `undefined` where there is nothing. */
  async #call<T>(
    at: string,
    signal: AbortSignal,
    ask: (done: (error: Error | undefined, answer: T) => void) => void,
  ): Promise<T | undefined> {
    const asked = new Promise<T>((resolve, reject) => {
      ask((error, answer) => (error ? reject(error) : resolve(answer)));
    });
    try {
      return await untilAborted(Promise.race([asked, this.#broken]), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (statusOf(error) === noSuchFile) return undefined;
      throw this.#failure(at, error, 'source.unreadable');
    }
  }

  #fileOf(at: string, { size, mtime }: Partial<Attributes>): RemoteFile {
    const nowMs = this.#clock.now().getTime();
    const isUndated = mtime === undefined;
    const revisedAtMs = isUndated ? nowMs : mtime * 1000;
    const isYoung = Math.abs(nowMs - revisedAtMs) < youngMs;
    const stamp = `${size}-${mtime}`;
    return {
      name: `${this.#pattern.root}${at}`,
      path: at,
      bytes: size,
      version: isYoung ? `${stamp} ${freshVersion()}` : stamp,
      revisedAtMs,
      isUndated,
      isYoung,
    };
  }

  /** From the top of the server; `~` is the user's home. */
  #absolute(at: string): string {
    return at === '~' || at.startsWith('~/') ? `.${at.slice(1)}` : `/${at}`;
  }

  #failure(at: string, error: unknown, code: 'source.unreadable' | 'part.unreadable'): unknown {
    if (error instanceof AgentError || !(error instanceof Error)) return error;
    const name = `${this.#pattern.root}${at}`;
    if (statusOf(error) === permissionDenied) {
      return new AgentError(code, `${name}: the user has no permission to read it`, {
        hint: 'give that user permission on the server',
      });
    }
    const why = oneLine(error.message, [this.#pattern.password ?? '']);
    return new AgentError(code, `${name} cannot be read: ${why}`, { hint: 'it is tried again; look at the server' });
  }
}

/** All attributes may be missing. `undefined` where the server does not say it. */
function kindOf({ mode }: Partial<Attributes>, line = ''): Kind | undefined {
  if (mode !== undefined && (mode & typeMask) !== 0) return kinds[mode & typeMask] ?? 'other';
  const [, letter] = /^([a-z-])[r-][w-][xsStT-]/i.exec(line) ?? [];
  return letter === undefined ? undefined : (letters[letter] ?? 'other');
}

/** A young file has a version of its own with each look, and its size and time all the same. */
function isSameVersion(a: RemoteFile, b: RemoteFile): boolean {
  const [one] = a.version.split(' ');
  const [other] = b.version.split(' ');
  return one === other;
}

/** The status of SFTP's protocol. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;
}
