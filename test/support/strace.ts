/** Runs the real program under strace: which system calls it makes on its state directory, and one of them failed once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Without strace these tests are skipped with a message, and fail in CI. */
export const cannotTrace =
  !(process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, 'strace'))) &&
  process.env['CI'] === undefined;

export interface Call {
  readonly name: string;
  /** As strace prints them, with every text in hexadecimal escapes. */
  readonly args: string;
  /** -1 where it failed. */
  readonly result: number;
  readonly isInjected: boolean;
}

export interface Traced {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
  /** Those of the main thread, which alone touches the state directory. */
  readonly calls: readonly Call[];
}

export interface Tracing {
  readonly program: readonly string[];
  readonly cwd: string;
  /** Only calls on these are seen. `$$` stands for the id of the process. */
  readonly paths?: readonly string[];
  /** Names of system calls, or classes of them. */
  readonly calls: readonly string[];
  /** How much of what is written is kept. */
  readonly bytes?: number;
  /** As `strace --inject` takes it. */
  readonly inject?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export async function trace({ program, cwd, calls, ...more }: Tracing): Promise<Traced> {
  const { paths = [], bytes = 0, inject, env = {} } = more;
  const output = path.join(cwd, 'strace.out');
  rmSync(output, { force: true });
  // With -D the process keeps the id that the shell has, and strace holds its streams until everything is written.
  const options = `-D -f -yy -xx -s ${bytes} --seccomp-bpf`.split(' ');
  const watched = paths.flatMap((one) => ['-P', one]);
  const faults = inject === undefined ? [] : [`--inject=${inject}`];
  const args = [...options, `--trace=${calls.join(',')}`, ...faults, ...watched, '-o', output, ...program];
  const quoted = args
    .map((arg) => `'${arg.replaceAll("'", String.raw`'\''`).replaceAll('$$', () => `'$$'`)}'`)
    .join(' ');
  const { PATH, HOME } = process.env;
  const child = spawn('/bin/sh', ['-c', `exec strace ${quoted}`], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const [exit, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const text = readFileSync(output, 'latin1');
  rmSync(output);
  return { exit, signal, said, calls: parseCalls(text, String(child.pid)) };
}

/** Calls that another thread cut in two are joined. */
function parseCalls(text: string, thread: string): readonly Call[] {
  const calls: Call[] = [];
  let begun = '';
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${thread} `)) continue;
    let said = line.slice(thread.length).trimStart();
    if (said.endsWith('<unfinished ...>')) {
      begun = said.slice(0, -'<unfinished ...>'.length);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(said);
    if (resumed !== null) said = begun + said.slice(resumed[0].length);
    const [, name, args, result, rest = ''] = /^(\w+)\((.*?) *\) += (-?\d+)(.*)$/.exec(said) ?? [];
    if (name === undefined || args === undefined) continue;
    calls.push({ name, args, result: Number(result), isInjected: rest.includes('(INJECTED)') });
  }
  return calls;
}

/** Texts as they are: names of files, and what was written. */
export function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll(String.raw`\x`, ''), 'hex');
}

/** The files that a call names: by name, or by a descriptor. */
export function filesOf({ args }: Call): string[] {
  const named = [...args.matchAll(/(?:<|")((?:\\x[0-9a-f]{2})+)(?:>|")/g)];
  return named.map(([, escaped = '']) => bytesOf(escaped).toString()).filter((name) => name.startsWith('/'));
}
