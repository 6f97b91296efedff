/**
 * `npm run fuzz -- TARGET --minutes 10 --seed 1`: feeds a parser with inputs that are made of valid ones, until the time is over or one
 * of them breaks a rule; `all` takes each target in turn. It ends with exit 1 and the command that brings the same input back. Each
 * input depends on the seed and its number alone. A thread does the work, so that an input that never ends is found too.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { answerTargets } from './fuzz-answers.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { fileTargets } from './fuzz-files.ts';
import { fuzzFolder } from './fuzz-folder.ts';
import { textTargets } from './fuzz-texts.ts';
import { wireTargets } from './fuzz-wire.ts';
import { mutated } from './mutations.ts';
import { Draw } from './nasty-files.ts';

export const targets: Readonly<Record<string, FuzzTarget>> = {
  ...textTargets,
  ...fileTargets,
  ...answerTargets,
  ...wireTargets,
};

/** An input that takes so long hangs, also on a busy machine. */
const patienceMs = 120_000;
/** No input of a few kilobytes is worth so much memory. */
const memoryMax = 1.5e9;

interface Inputs {
  readonly seed: number;
  /** The first one. */
  readonly from: number;
  /** How many at most. */
  readonly count: number;
  readonly untilMs: number;
}

/** Feeds a target and returns with how many inputs. Throws with the number of the one that broke a rule. */
export async function feed(
  name: string,
  { seed, from, count, untilMs }: Inputs,
  passed: (input: number) => void = () => undefined,
): Promise<number> {
  const target = targets[name];
  if (target === undefined) throw new Error(`there is no target ${name}: ${Object.keys(targets).join(', ')}`);
  const seeds = await target.seeds();
  let done = 0;
  for (; done < count && (done === 0 || Date.now() < untilMs); done++) {
    const number = from + done;
    passed(number);
    // Neighbouring seeds give other numbers only after the first ones were drawn.
    const draw = new Draw(seed * 1_000_003 + number);
    draw.below(2);
    const input = mutated(seeds, target.tokens, draw);
    try {
      await target.check(input, draw);
    } catch (cause) {
      const file = path.join(tmpdir(), `fuzz-${name}-${seed}-${number}`);
      writeFileSync(file, input);
      throw new Error(`input ${number} of seed ${seed}, kept in ${file}`, { cause });
    }
  }
  return done;
}

interface Said {
  readonly at: number;
  readonly memory: number;
  readonly done?: number;
  readonly failure?: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Works in a thread that is ended where it does not move. Returns what went wrong. */
async function watched(name: string, inputs: Inputs): Promise<string | undefined> {
  const worker = new Worker(import.meta.filename, { workerData: { name, inputs, fuzzFolder } });
  let at = inputs.from;
  let largest = 0;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const hang = (): void => resolve(`input ${at} or one of the next 50 never ends`);
  let timer = setTimeout(hang, patienceMs);
  worker.on('error', (error) => resolve(`after input ${at}: ${error.stack}`));
  worker.on('message', (said: Said) => {
    clearTimeout(timer);
    timer = setTimeout(hang, patienceMs);
    at = said.at;
    largest = Math.max(largest, said.memory);
    if (said.memory > memoryMax) resolve(`about input ${at} the process has ${Math.round(said.memory / 1e6)} MB`);
    if (said.failure !== undefined) resolve(said.failure);
    if (said.done === undefined) return;
    say(`${name}: ${said.done} inputs, nothing found, at most ${Math.round(largest / 1e6)} MB`);
    resolve(undefined);
  });
  const wrong = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return wrong;
}

async function work(name: string, inputs: Inputs): Promise<void> {
  const tell = (said: Said): void => parentPort?.postMessage(said);
  const memory = (): number => process.memoryUsage().rss;
  let last = inputs.from;
  try {
    const done = await feed(name, inputs, (number) => {
      last = number;
      if (number % 50 === 0) tell({ at: number, memory: memory() });
    });
    tell({ at: last, memory: memory(), done });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.stack : '';
    tell({ at: last, memory: memory(), failure: `${String(error)}\n${cause}` });
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      input: { type: 'string' },
    },
    allowPositionals: true,
  });
  const seed = Number(values.seed);
  const [only = 'all'] = positionals;
  for (const name of only === 'all' ? Object.keys(targets) : [only]) {
    const untilMs = Date.now() + Number(values.minutes) * 60_000;
    const from = Number(values.input ?? 0);
    const wrong = await watched(name, { seed, from, count: values.input === undefined ? Infinity : 1, untilMs });
    if (wrong === undefined) continue;
    say(`${name}: ${wrong}\nTo run it again:\n  npm run fuzz -- ${name} --seed ${seed} --input NUMBER`);
    return 1;
  }
  return 0;
}

if (!isMainThread && workerData !== null && typeof workerData === 'object' && 'inputs' in workerData) {
  const { name, inputs } = workerData as { readonly name: string; readonly inputs: Inputs };
  await work(name, inputs);
} else if (isMainThread && process.argv[1] === import.meta.filename) process.exitCode = await main();
