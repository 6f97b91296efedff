/**
 * Plays configs that nobody wrote: `node test/support/play-drawn.ts [--from NUMBER] [--configs N] [--each N] [--machines]`. Prints each history that breaks
 * a promise, with the number of its config, and fails then.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openStage } from '../../src/compose/simulated.ts';
import { loadConfig } from '../../src/config/load.ts';
import { digestOf, playSeeds } from '../../src/simulate/campaign.ts';
import { playFleet } from '../../src/simulate/machines/play-fleet.ts';
import { drawConfig, drawSharedConfig, drawnSeeds } from './drawn-configs.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    configs: { type: 'string', default: '100' },
    each: { type: 'string', default: '20' },
    machines: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const each = Number(values.each);
const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-drawn-'));
const all: string[] = [];
try {
  for (let number = from; number < from + Number(values.configs); number++) await playConfig(number);
} finally {
  rmSync(dir, { recursive: true });
}
process.stdout.write(`${all.length} histories, digest ${digestOf(all)}\n`);

async function playConfig(number: number): Promise<void> {
  const file = path.join(dir, 'driver-sync.yaml');
  writeFileSync(file, JSON.stringify(values.machines ? drawSharedConfig(number) : drawConfig(number)));
  const { settings, problems } = loadConfig(file, { env: {}, secrets: 'unused' });
  if (settings === undefined) {
    fail(`config ${number} is not valid: ${JSON.stringify(problems)}`);
    return;
  }
  const { stage, warnings } = openStage(settings);
  for (const { path: where, message } of warnings) process.stdout.write(`config ${number}, ${where}: ${message}\n`);
  try {
    const { digests, failed } = await playSeeds(
      stage,
      drawnSeeds(number, each),
      () => undefined,
      values.machines ? playFleet : undefined,
    );
    all.push(...digests);
    if (failed !== undefined) fail(`config ${number}, seed ${failed.seed}: ${JSON.stringify(failed.played.violation)}`);
  } catch (error) {
    fail(`config ${number}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

function fail(why: string): void {
  process.stdout.write(`${why}\n`);
  process.exitCode = 1;
}
