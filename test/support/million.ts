/**
 * Histories of every config of the campaigns, on all cores: `node test/support/million.ts [--each N] [--from SEED] [--only NAME]`. Prints what
 * each came to, and fails where a promise is broken or, with all configs, a mark is not reached. The same seeds give the same digest.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { playInThreads } from '../../src/cli/simulate-threads.ts';
import { digestOf } from '../../src/simulate/campaign.ts';
import { campaignConfigs, requiredMarks, sampleFile } from './campaign-configs.ts';

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '100000' },
    from: { type: 'string', default: '1' },
    only: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const seeds = { from: Number(values.from), count: Number(values.each), threads: Number(values.threads) };
const configs = campaignConfigs.filter(([name]) => values.only === undefined || name === values.only);
if (configs.length === 0) throw new Error(`--only is one of: ${campaignConfigs.map(([name]) => name).join('; ')}`);

const marks = new Map<string, number>();
const all: string[] = [];
const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-million-'));
try {
  for (const [name, config] of configs) await playConfig(name, config);
} finally {
  rmSync(dir, { recursive: true });
}
say(`\n${all.length} histories, digest ${digestOf(all)}\n`);
for (const [mark, times] of [...marks].sort(([a], [b]) => (a < b ? -1 : 1))) say(`${mark}: ${times}`);
const missing = requiredMarks.filter((mark) => !marks.has(mark));
if (values.only === undefined && missing.length > 0) fail(`never reached: ${missing.join(', ')}`);
const unnamed = [...marks.keys()].filter((mark) => mark.includes('unnamed'));
if (unnamed.length > 0) fail(`without a mark: ${unnamed.join(', ')}`);

async function playConfig(name: string, config: object | 'sample'): Promise<void> {
  const file = config === 'sample' ? sampleFile : path.join(dir, 'driver-sync.yaml');
  if (config !== 'sample') writeFileSync(file, JSON.stringify(config));
  const startedMs = performance.now();
  const { digests, steps, failedSeed, ...played } = await playInThreads({ file, env: {} }, seeds, () => undefined);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  say(`${name}: ${digests.length} histories, ${steps} steps, ${seconds} s, digest ${digestOf(digests)}`);
  for (const [mark, times] of played.marks) marks.set(mark, (marks.get(mark) ?? 0) + times);
  all.push(...digests);
  if (failedSeed !== undefined) fail(`seed ${failedSeed} of "${name}" breaks a promise`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}
