/** Servers of files: OpenSSH and rclone, each with a folder, a port and a process of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import { atEnd } from './destination-world.ts';
import { tempDir } from './source-world.ts';

const sshd = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) => existsSync(file));
const rclone = ['/usr/bin/rclone', '/usr/local/bin/rclone'].find((file) => existsSync(file));

const isChecked = process.env['CI'] !== undefined;
export const cannotSsh = !isChecked && sshd === undefined;
export const cannotRclone = !isChecked && rclone === undefined;
export const sshName = cannotSsh ? 'OpenSSH, which is not installed' : 'OpenSSH';
export const rcloneName = cannotRclone ? 'rclone, which is not installed' : 'rclone';

export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** What it serves, by its full path. */
  readonly folder: string;
  /** The private key that lets the user in. */
  readonly keyFile: string;
  /** As ssh-keygen prints it. */
  readonly hostKey: string;
  /** A line of known_hosts. */
  readonly knownHost: string;
  /** Starts it again with another key of its own, which this gives. */
  renewKey(): Promise<string>;
}

/** How long a server and its files are there. */
export interface Lifetime {
  readonly tempDir: () => Promise<string>;
  readonly atEnd: (cleanup: () => unknown) => void;
}

export const untilTestEnds: Lifetime = { tempDir, atEnd };

export async function sshServer(lifetime = untilTestEnds): Promise<SshServer> {
  if (sshd === undefined) throw new Error('openssh-server is not installed, and with CI set nothing is skipped');
  const dir = await lifetime.tempDir();
  const folder = path.join(dir, 'exports');
  mkdirSync(folder);
  const [hostFile, keyFile] = [path.join(dir, 'host'), path.join(dir, 'key')];
  makeKey(keyFile);
  const port = await freePort();
  const config = path.join(dir, 'sshd_config');
  const lines = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${hostFile}`,
    `AuthorizedKeysFile ${keyFile}.pub`,
    `PidFile none`,
    'PasswordAuthentication no',
    'PermitRootLogin yes',
    'StrictModes no',
    'UsePAM no',
    'Subsystem sftp internal-sftp',
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  // It insists on this folder where it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const start = async (): Promise<{ readonly stop: () => Promise<void>; readonly hostKey: string }> => {
    makeKey(hostFile);
    const stop = await started(spawn(sshd, ['-D', '-e', '-f', config], { stdio: 'ignore' }), port, lifetime);
    const [, hostKey = ''] = execFileSync('ssh-keygen', ['-lf', `${hostFile}.pub`], { encoding: 'utf8' }).split(' ');
    return { stop, hostKey };
  };
  let running = await start();
  const [type = '', key = ''] = readFileSync(`${hostFile}.pub`, 'utf8').split(' ');
  const knownHost = `[127.0.0.1]:${port} ${type} ${key.trim()}\n`;
  return {
    port,
    user: userInfo().username,
    folder,
    keyFile,
    hostKey: running.hostKey,
    knownHost,
    async renewKey() {
      await running.stop();
      running = await start();
      return running.hostKey;
    },
  };
}

function makeKey(file: string): void {
  rmSync(file, { force: true });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
}

export interface DavServer {
  /** With user and password. */
  readonly url: string;
  readonly folder: string;
}

export const davPassword = 'se/cr?et #1%@';

export async function davServer(lifetime = untilTestEnds): Promise<DavServer> {
  if (rclone === undefined) throw new Error('rclone is not installed, and with CI set nothing is skipped');
  const folder = await lifetime.tempDir();
  const port = await freePort();
  const flags = ['--addr', `127.0.0.1:${port}`, '--user', 'finance', '--pass', davPassword, '--dir-cache-time', '0s'];
  await started(
    spawn(rclone, ['serve', 'webdav', folder, '--config', '/dev/null', ...flags], { stdio: 'ignore' }),
    port,
    lifetime,
  );
  return { url: `http://finance:${encodeURIComponent(davPassword)}@127.0.0.1:${port}`, folder };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}

/** Waits until it listens; what this gives ends it. */
export async function started(child: ChildProcess, port: number, lifetime: Lifetime): Promise<() => Promise<void>> {
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  lifetime.atEnd(stop);
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      const socket: Socket = connect(port, '127.0.0.1');
      try {
        await once(socket, 'connect');
      } finally {
        socket.destroy();
      }
    },
    { timeout: 20_000, interval: 50 },
  );
  return stop;
}
