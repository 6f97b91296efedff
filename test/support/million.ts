/**
 * Histories of every config of the campaigns, on all cores: `node test/support/million.ts [--each N] [--from SEED] [--only NAME] [--keep FILE]`.
 * Prints what each came to, and fails where a promise is broken or, with all configs, a mark is not reached. The same seeds give the same digest.
 * `--keep` writes down what each piece came to: a run that is stopped goes on there, on any machine, as long as code and configs are the same.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { playInThreads } from '../../src/cli/simulate-threads.ts';
import { digestOf } from '../../src/simulate/campaign.ts';
import { campaignConfigs, requiredMarks, sampleFile } from './campaign-configs.ts';

/** What one piece of the seeds of a config came to. */
interface Piece {
  readonly config: string;
  readonly from: number;
  readonly count: number;
  readonly steps: number;
  readonly seconds: number;
  /** Of the digests of its histories. */
  readonly digest: string;
  readonly marks: Readonly<Record<string, number>>;
  readonly failedSeed?: number | undefined;
}

interface Kept {
  readonly code: string;
  readonly pieces: Piece[];
}

const pieceSeeds = 25_000;

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '100000' },
    from: { type: 'string', default: '1' },
    only: { type: 'string' },
    keep: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const from = Number(values.from);
const end = from + Number(values.each);
const threads = Number(values.threads);
const configs = campaignConfigs.filter(([name]) => values.only === undefined || name === values.only);
if (configs.length === 0) throw new Error(`--only is one of: ${campaignConfigs.map(([name]) => name).join('; ')}`);

const marks = new Map<string, number>();
const all: string[] = [];
const kept = values.keep === undefined ? undefined : readKept(values.keep);
const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-million-'));
try {
  for (const [name, config] of configs) await playConfig(name, config);
} finally {
  rmSync(dir, { recursive: true });
}
say(`\n${configs.length * Number(values.each)} histories, digest ${digestOf(all)}\n`);
for (const [mark, times] of [...marks].sort(([a], [b]) => (a < b ? -1 : 1))) say(`${mark}: ${times}`);
const missing = requiredMarks.filter((mark) => !marks.has(mark));
if (values.only === undefined && missing.length > 0) fail(`never reached: ${missing.join(', ')}`);
const unnamed = [...marks.keys()].filter((mark) => mark.includes('unnamed'));
if (unnamed.length > 0) fail(`without a mark: ${unnamed.join(', ')}`);

async function playConfig(name: string, config: object | 'sample'): Promise<void> {
  const file = config === 'sample' ? sampleFile : path.join(dir, 'driver-sync.yaml');
  if (config !== 'sample') writeFileSync(file, JSON.stringify(config));
  const pieces: Piece[] = [];
  for (let seed = from; seed < end && pieces.at(-1)?.failedSeed === undefined; seed += pieceSeeds)
    pieces.push(await playPiece(name, file, { from: seed, count: Math.min(pieceSeeds, end - seed) }));
  const digests = pieces.map((piece) => piece.digest);
  const sum = (value: 'count' | 'steps' | 'seconds'): number =>
    pieces.reduce((total, piece) => total + piece[value], 0);
  say(`${name}: ${sum('count')} histories, ${sum('steps')} steps, ${sum('seconds')} s, digest ${digestOf(digests)}`);
  for (const [mark, times] of pieces.flatMap((piece) => Object.entries(piece.marks)))
    marks.set(mark, (marks.get(mark) ?? 0) + times);
  all.push(...digests);
  const failedSeed = pieces.at(-1)?.failedSeed;
  if (failedSeed !== undefined) fail(`seed ${failedSeed} of "${name}" breaks a promise`);
}

/** Plays it, unless an earlier run has. */
async function playPiece(name: string, file: string, seeds: { from: number; count: number }): Promise<Piece> {
  const isThis = (piece: Piece): boolean =>
    piece.config === name && piece.from === seeds.from && piece.count === seeds.count;
  const before = kept?.pieces.find(isThis);
  if (before !== undefined) return before;
  const startedMs = performance.now();
  const played = await playInThreads({ file, env: {} }, { ...seeds, threads }, () => undefined);
  const piece: Piece = {
    config: name,
    ...seeds,
    steps: played.steps,
    seconds: Math.round((performance.now() - startedMs) / 1000),
    digest: digestOf(played.digests),
    marks: Object.fromEntries([...played.marks].sort(([a], [b]) => (a < b ? -1 : 1))),
    failedSeed: played.failedSeed,
  };
  if (kept !== undefined) {
    kept.pieces.push(piece);
    writeFileSync(`${values.keep!}.new`, `${JSON.stringify(kept, undefined, 1)}\n`);
    renameSync(`${values.keep!}.new`, values.keep!);
  }
  return piece;
}

function readKept(file: string): Kept {
  const code = codeVersion();
  if (!existsSync(file)) return { code, pieces: [] };
  const found = JSON.parse(readFileSync(file, 'utf8')) as Kept;
  if (found.code !== code) throw new Error(`${file} is of other code, ${found.code}, and this is ${code}`);
  return found;
}

/** Pieces of one run are of the same code and configs. */
function codeVersion(): string {
  const played = ['src', 'config', 'test/simulate/planted/configs.ts', 'test/support/campaign-configs.ts'];
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', ...played.map((file) => `:/${file}`));
  if (changed !== '') throw new Error(`--keep belongs to a commit, and these files are changed:\n${changed}`);
  const versions = git('rev-parse', ...played.map((file) => `HEAD:${file}`));
  return createHash('sha256').update(versions).digest('hex').slice(0, 12);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}
