/** Runs programs as child processes, one at a time, and says what each of them took. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';

/** A program of a comparison. */
export interface Program {
  readonly name: string;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** Made ready before each run, and not counted. */
  readonly before?: () => void;
}

/** One run of a program. */
export interface Run {
  readonly seconds: number;
  /** Of all its threads, in user and in kernel mode: what other work on the machine disturbs least. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/** Medians of the runs of a program. */
export interface Result extends Run {
  readonly name: string;
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

/** Every program once, then every program again: what disturbs the machine for a while disturbs them all. */
export async function compare(programs: readonly Program[], runs: number): Promise<readonly Result[]> {
  const all = programs.map((): Run[] => []);
  for (let round = 0; round < runs; round++) {
    for (const [index, program] of programs.entries()) all[index]?.push(await runOnce(program));
  }
  return programs.map(({ name }, index) => ({ name, ...medians(all[index] ?? []) }));
}

async function runOnce({ args, before }: Program): Promise<Run> {
  before?.();
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['--import', usageModule, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  // The types know of three streams only.
  const streams = [child.stdout, child.stderr, child.stdio[3]] as readonly Readable[];
  const outputs = Promise.all(streams.map((stream) => text(stream)));
  const [code] = (await once(child, 'exit')) as [number | null];
  const seconds = (performance.now() - startedMs) / 1000;
  const [out = '', err = '', usage = ''] = await outputs;
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}\n${out}\n${err}`);
  const { cpuSeconds, peakMb } = JSON.parse(usage) as Omit<Run, 'seconds'>;
  return { seconds: ownSeconds(out) ?? seconds, cpuSeconds, peakMb };
}

/** A program may say itself how long the part of it took that counts. */
function ownSeconds(out: string): number | undefined {
  const match = /^\{"seconds":([\d.]+)\}$/m.exec(out);
  return match === null ? undefined : Number(match[1]);
}

function medians(runs: readonly Run[]): Run {
  return {
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakMb: Math.max(...runs.map(({ peakMb }) => peakMb)),
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
