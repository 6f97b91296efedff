/**
 * `npm run explore -- --minutes 10 [FILE...]`: runs the tests with properties again and again, each time with other
 * inputs and in another order, until the time is over or a test fails. A failure ends it with exit 1 and the command that
 * brings the same inputs back.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Results {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

const root = path.join(import.meta.dirname, '../..');
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs the files once with these seeds, and gives those that failed: all of them where the run itself broke down. */
function run(files: readonly string[], seeds: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'driver-sync-explore-'));
  const output = path.join(folder, 'results.json');
  const args = [vitest, 'run', ...files, '--reporter=dot', '--reporter=json', `--outputFile.json=${output}`];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...seeds },
    stdio: 'inherit',
  });
  const results = existsSync(output) ? readFileSync(output, 'utf8') : '{"testResults":[]}';
  rmSync(folder, { recursive: true });
  if (status === 0) return [];
  const { testResults } = JSON.parse(results) as Results;
  const failed = testResults.filter((one) => one.status === 'failed');
  return failed.length === 0 ? files : failed.map(({ name }) => path.relative(root, name));
}

function explore(minutes: number, files: readonly string[]): number {
  const endMs = Date.now() + minutes * 60_000;
  for (let round = 1; round === 1 || Date.now() < endMs; round += 1) {
    const seeds = { PROPERTY_SEED: String(randomInt(2 ** 31)), ORDER_SEED: String(randomInt(2 ** 31)) };
    const environment = Object.entries(seeds)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
    say(`\nround ${round}: ${environment}`);
    const failed = run(files, seeds);
    if (failed.length === 0) continue;
    say(`\nround ${round} failed. To run it again:\n  ${environment} npm test -- ${failed.join(' ')}`);
    return 1;
  }
  say(`\nnothing failed in ${minutes} minutes`);
  return 0;
}

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  process.stderr.write(`--minutes is "${values.minutes}" and must be a number above 0\n`);
  process.exit(64);
}
const withProperties = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
  /from '(?:fast-check|.*\/seeds\.ts)'/.test(readFileSync(path.join(root, file), 'utf8')),
);
process.exitCode = explore(minutes, positionals.length > 0 ? positionals : withProperties.sort());
