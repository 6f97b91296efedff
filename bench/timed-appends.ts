/**
 * Passes of an agent over a file that grows between them. Prints how long it took to commit and to judge what was appended.
 *
 *   node bench/timed-appends.ts CONFIG FILE
 */
import { appendFileSync } from 'node:fs';
import { runPass } from '../src/app/pass.ts';
import { compactScattered } from '../src/app/read/idle-work.ts';
import { openAgent } from '../src/compose/agent.ts';
import { openLog } from '../src/compose/parts.ts';
import { loadConfig } from '../src/config/load.ts';

const rows = 1000;
/** The first ones are slower: nothing of what they run was compiled yet. */
const [roundsBefore, rounds] = [4, 15];

const [config = '', file = ''] = process.argv.slice(2);
const { settings, problems } = loadConfig(config, { env: process.env, secrets: 'required' });
if (settings === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));

interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

let started = { ms: 0, cpu: process.cpuUsage() };
let committed: Taken | undefined;
let judged: Taken | undefined;
function taken(): Taken {
  const { user, system } = process.cpuUsage(started.cpu);
  return { seconds: (performance.now() - started.ms) / 1000, cpuSeconds: (user + system) / 1e6 };
}
const observe = ({ kind }: { readonly kind: string }): void => {
  if (kind === 'part.swapped') committed = taken();
  if (kind === 'read.judged') judged = taken();
};
const log = openLog({ level: 'warn', pretty: false, stream: process.stderr });
await using agent = await openAgent(settings, { command: 'sync', log, env: process.env, version: '0', observe });
const { signal } = new AbortController();

/** As the daemon does, with its idle work. */
async function pass(): Promise<{ committed: Taken; judged: Taken }> {
  committed = judged = undefined;
  started = { ms: performance.now(), cpu: process.cpuUsage() };
  await runPass(agent.deps, { push: 'no', resume: true, retryForMs: 0, proof: 'idle' }, signal);
  await agent.releaseMemory();
  await compactScattered(agent.deps, signal);
  if (committed === undefined || judged === undefined) throw new Error('nothing was read');
  return { committed, judged };
}

/** A day of some of the drivers. */
function appendRows(round: number): void {
  const date = `2023-${String(1 + (round % 12)).padStart(2, '0')}-${String(1 + Math.floor(round / 12)).padStart(2, '0')}`;
  const lines = Array.from({ length: rows }, (_, at) => {
    const region = at % 2 === 0 ? 'North' : 'South';
    const number = String(at).padStart(6, '0');
    const product = at % 2 === 0 ? `"Beans, roasted ${number}"` : `Beans roasted ${number}`;
    return `${date},${region},${product},Actual,${round}${at}.25\n`;
  });
  appendFileSync(file, lines.join(''));
}

const whole = await pass();
const measured = [];
for (let round = 0; round < roundsBefore + rounds; round++) {
  appendRows(round);
  const timed = await pass();
  if (round >= roundsBefore) measured.push(timed);
}
console.log(
  JSON.stringify({
    whole: whole.committed,
    committed: measured.map((timed) => timed.committed),
    judged: measured.map((timed) => timed.judged),
  }),
);
