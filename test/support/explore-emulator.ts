/**
 * `npm run explore:emulator -- --minutes 10 [--seed 1]`: requests that are made of the emulator's description, until the time is
 * over, SIGINT or SIGTERM comes, an answer is not described, or it does not fit its schema. Such an answer ends it with exit 1
 * and the commands.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { explore, Finding } from './openapi-explorer.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
const endMs = Date.now() + Number(values.minutes) * 60_000;
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
let isEnded = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isEnded = true));

try {
  const isOver = (sessions: number): boolean => sessions > 0 && (isEnded || Date.now() >= endMs);
  const { requests, answers } = await explore(seed, isOver);
  const rows = Object.entries(answers).toSorted(([first], [second]) => first.localeCompare(second));
  for (const [answer, count] of rows) process.stdout.write(`${answer}: ${count}\n`);
  process.stdout.write(`${requests} requests from seed ${seed}: every answer was described and fitted its schema\n`);
} catch (error) {
  if (!(error instanceof Finding)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
}
