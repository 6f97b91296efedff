/** Runs programs as child processes, one at a time, and says what each of them took. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';

/** A program of a comparison. */
export interface Program {
  readonly name: string;
  /** Of what is measured, as it says itself. */
  readonly version?: string;
  /** Default: this Node. */
  readonly command?: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Made ready before each run, and not counted. */
  readonly before?: () => void;
}

/** One run of a program. */
export interface Run {
  readonly seconds: number;
  /** Of all its threads, in user and in kernel mode: what other work on the machine disturbs least. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  /** How many points it came to, where it prints `"points":N`. */
  readonly points?: number;
}

/** Medians of the runs of a program, and the highest of their peaks. */
export interface Result extends Run {
  readonly name: string;
  readonly version?: string;
}

/** Says at the end of a process what it used, on file descriptor 3. The peak is of this program alone, not of its parent. */
const usageModule = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync, writeSync } from 'node:fs';
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    let peakKb = maxRSS;
    try {
      peakKb = Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]);
    } catch {}
    writeSync(3, JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: peakKb / 1024 }));
  });
`)}`;

/** Every program once, then every program again: what disturbs the machine for a while disturbs them all. @throws Error where one fails */
export async function compare(programs: readonly Program[], runs: number): Promise<readonly Result[]> {
  const all = programs.map((): Run[] => []);
  for (let round = 0; round < runs; round++) {
    for (const [index, program] of programs.entries()) all[index]?.push(await runOnce(program));
  }
  return programs.map(({ name, version }, index) => ({
    name,
    ...(version === undefined ? {} : { version }),
    ...medians(all[index] ?? []),
  }));
}

/** The same, of programs that do the same work. @throws Error where two come to different numbers of points */
export async function comparePeers(programs: readonly Program[], runs: number): Promise<readonly Result[]> {
  const results = await compare(programs, runs);
  const [first, ...others] = results.filter(({ points }) => points !== undefined);
  const other = others.find(({ points }) => points !== first?.points);
  if (other === undefined) return results;
  throw new Error(`${first?.name}: ${first?.points} points, ${other.name}: ${other.points}`);
}

async function runOnce({ command = process.execPath, args, env, before }: Program): Promise<Run> {
  before?.();
  const isNode = command === process.execPath;
  const startedMs = performance.now();
  const child = spawn(command, isNode ? ['--import', usageModule, ...args] : args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  // The types know of three streams only.
  const streams = [child.stdout, child.stderr, child.stdio[3]] as readonly Readable[];
  const outputs = Promise.all(streams.map((stream) => text(stream)));
  const watched = isNode ? undefined : watch(child);
  const [code] = (await once(child, 'exit')) as [number | null];
  const seconds = (performance.now() - startedMs) / 1000;
  const usage = watched?.end();
  const [out = '', err = '', said = ''] = await outputs;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${out}\n${err}`);
  const { cpuSeconds, peakMb } = usage ?? (JSON.parse(said) as Usage);
  const points = /"points":(\d+)/.exec(out)?.[1];
  return {
    seconds: ownSeconds(out) ?? seconds,
    cpuSeconds,
    peakMb,
    ...(points === undefined ? {} : { points: Number(points) }),
  };
}

type Usage = Pick<Run, 'cpuSeconds' | 'peakMb'>;

/** Looks at a program that does not say what it uses, until it ends: its last 5 ms are missing. */
function watch({ pid }: ChildProcess): { end(): Usage } {
  let usage: Usage = { cpuSeconds: NaN, peakMb: NaN };
  const look = (): void => {
    try {
      const { cpuSeconds, peakMb } = readProcess(pid);
      if (peakMb > 0) usage = { cpuSeconds, peakMb };
    } catch {
      // It has ended, or this system has no /proc: the report then shows neither.
    }
  };
  const timer = setInterval(look, 5);
  return {
    end() {
      clearInterval(timer);
      return usage;
    },
  };
}

/** What a process has used so far. Linux only: @throws Error where there is no /proc or no such process */
export function readProcess(pid: number | undefined): Usage & { readonly residentMb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  // After the name in brackets: user and system time are the 12th and 13th fields, in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const megabytes = (key: string): number => Number(new RegExp(`${key}:\\s*(\\d+)`).exec(status)?.[1]) / 1024;
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return { cpuSeconds, residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

/** A program may say itself how long the part of it took that counts. */
function ownSeconds(out: string): number | undefined {
  const match = /^\{"seconds":([\d.]+)\}$/m.exec(out);
  return match === null ? undefined : Number(match[1]);
}

function medians(runs: readonly Run[]): Run {
  const points = runs[0]?.points;
  return {
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakMb: Math.max(...runs.map(({ peakMb }) => peakMb)),
    ...(points === undefined ? {} : { points }),
  };
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** A process that goes on beside what is measured. */
export interface Helper extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The next line that it prints. */
  line(): Promise<string>;
  /** Forgets what it printed so far. */
  skip(): void;
}

export function startHelper(args: readonly string[]): Helper {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const printed = createInterface({ input: child.stdout });
  let lines: string[] = [];
  printed.on('line', (line) => lines.push(line));
  return {
    process: child,
    async line() {
      if (lines.length === 0) await Promise.race([once(printed, 'line'), exited]);
      const line = lines.shift();
      if (line === undefined) throw new Error(`node ${args.join(' ')} ended`);
      return line;
    },
    skip() {
      lines = [];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
