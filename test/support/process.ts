/** The executable as people and service managers start it: a process with its streams, its signals and its exit code. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { executable } from './built.ts';
import { within } from './receiver.ts';

export interface Exit {
  /** `undefined` where a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

export interface Running extends AsyncDisposable {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when stdout or stderr matches, after what matched before; rejects where the process ends first. */
  says(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Closes the reading ends of its stdout and stderr. */
  deafen(): void;
  /** The lines of its log, as far as they have come. */
  log(): readonly Record<string, unknown>[];
}

export interface Done extends Exit {
  readonly stdout: string;
  readonly stderr: string;
  /** What stdout has. */
  json<T = Record<string, unknown>>(): T;
}

/** A directory with a config and files, and the commands that run on it. */
export interface Place extends AsyncDisposable {
  readonly dir: string;
  readonly state: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  configure(config: object): Promise<void>;
  start(...args: readonly string[]): Running;
  /** Starts the daemon and waits until it has its signals and its state. */
  daemon(...args: readonly string[]): Promise<Running>;
  command(...args: readonly string[]): Promise<Done>;
  /** What all that was started there wrote. */
  said(): string;
}

export async function place(
  config: object,
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
  program = executable,
): Promise<Place> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-process-'));
  const started: Running[] = [];
  const write: Place['write'] = async (name, content) => {
    const file = path.join(dir, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  };
  const configure: Place['configure'] = (next) => write('driver-sync.yaml', stringify(next));
  const start: Place['start'] = (...args) => {
    const running = startProcess([program, ...args], dir, env);
    started.push(running);
    return running;
  };
  await configure(config);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return {
    dir,
    state: path.join(dir, '.driver-sync'),
    write,
    remove: (name) => rm(path.join(dir, name)),
    configure,
    start,
    async daemon(...args) {
      const running = start('run', ...args);
      await running.says(/driver-sync runs/);
      return running;
    },
    async command(...args) {
      const running = start(...args);
      const { code, signal } = await running.exit;
      const { stdout, stderr } = running;
      return { code, signal, stdout, stderr, json: <T>() => JSON.parse(stdout) as T };
    },
    said: () => started.map(({ stdout, stderr }) => stdout + stderr).join(''),
    async [Symbol.asyncDispose]() {
      for (const running of started) await running[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    },
  };
}

/** Node with these arguments. */
export function startProcess(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Running {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let isOver = false;
  let moved = Promise.withResolvers<void>();
  const move = (): void => {
    moved.resolve();
    moved = Promise.withResolvers();
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => ((stdout += chunk), move()));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => ((stderr += chunk), move()));
  const exit = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      isOver = true;
      resolve({ code: code ?? undefined, signal: signal ?? undefined });
      move();
    });
  });
  const seen = { stdout: 0, stderr: 0 };
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    exit,
    kill: (signal) => void child.kill(signal),
    async says(pattern) {
      for (;;) {
        const texts = { stdout, stderr };
        for (const stream of ['stdout', 'stderr'] as const) {
          const match = texts[stream].slice(seen[stream]).match(pattern);
          if (match === null) continue;
          seen[stream] += (match.index ?? 0) + match[0].length;
          return match;
        }
        if (isOver) throw new Error(`it ended and never said ${pattern}\n${stdout}${stderr}`);
        await within(moved.promise, () => `it has not said ${pattern}\n${stdout}${stderr}`);
      }
    },
    deafen() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    log: () =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill('SIGKILL');
      await exit;
    },
  };
}

/** A CSV source with the columns `id,time,value` that settles at once; what `keys` says comes on top. */
export function csv(files: string, keys: object = {}): object {
  const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }];
  return { type: 'csv', files: [files], settle: '0s', drivers, ...keys };
}
