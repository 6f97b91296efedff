/**
 * One pass of an agent in this process, beside a timer of 10 ms on its main thread. Prints by how much the timer was late at most.
 *
 *   node bench/timed-pass.ts CONFIG
 */
import { runPassOrRebuild } from '../src/app/pass.ts';
import { openAgent } from '../src/compose/agent.ts';
import { openLog } from '../src/compose/parts.ts';
import { loadConfig } from '../src/config/load.ts';

const intervalMs = 10;

const [config = ''] = process.argv.slice(2);
const { settings, problems } = loadConfig(config, { env: process.env, secrets: 'required' });
if (settings === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));

let isReading = false;
const lateMs = { reading: 0, pass: 0 };
const log = openLog({ level: 'warn', pretty: false, stream: process.stderr });
const observe = ({ kind }: { readonly kind: string }): void => {
  if (kind === 'part.reading') isReading = true;
  if (kind === 'part.folded') isReading = false;
};
await using agent = await openAgent(settings, { command: 'sync', log, env: process.env, version: '0', observe });

const startedMs = performance.now();
let dueMs = startedMs + intervalMs;
let timer = setTimeout(tick, intervalMs);
function tick(): void {
  const nowMs = performance.now();
  lateMs.pass = Math.max(lateMs.pass, nowMs - dueMs);
  if (isReading) lateMs.reading = Math.max(lateMs.reading, nowMs - dueMs);
  dueMs = nowMs + intervalMs;
  timer = setTimeout(tick, intervalMs);
}

const { signal } = new AbortController();
const { outcome } = await runPassOrRebuild(
  agent,
  { push: 'always', resume: true, retryForMs: 0, keepsToRetryAfter: 'sync' },
  signal,
);
clearTimeout(timer);
if (outcome !== 'acknowledged') throw new Error(`the pass came to ${outcome}`);
console.log(
  JSON.stringify({
    seconds: (performance.now() - startedMs) / 1000,
    whileReadingMs: lateMs.reading,
    wholePassMs: lateMs.pass,
  }),
);
