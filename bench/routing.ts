/**
 * Compares dry runs at the emulator with a bare node:http server that returns the same bytes, and measures one decision over
 * a thousand models. Prints two tables without a verdict.
 *
 *   node bench/routing.ts [--requests 4000] [--rounds 3]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultRouterSettings } from '../src/contract/routing-settings.ts';
import { startEmulator } from '../src/emulator/index.ts';
import { builtInCatalog } from '../src/emulator/routing/catalog.ts';
import { decide } from '../src/emulator/routing/pipeline.ts';

const connections = 16;
const body = JSON.stringify({ configId: 'bench', dryRun: true, input: { promptText: 'a lighthouse in the rain' } });
const path = '/v1/generate/image';

interface Load {
  readonly perSecond: number;
  readonly p99Ms: number;
}

async function post(base: string, to: string, agent: Agent, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      base + to,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (answer) => {
        let answered = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (answered += chunk));
        answer.on('end', () => resolve(answered));
      },
    );
    sent.on('error', reject).end(text);
  });
}

/** Sends `count` requests over a few open connections. */
async function load(base: string, requests: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const taken: number[] = [];
  let left = requests;
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const sentMs = performance.now();
      await post(base, path, agent, body);
      taken.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - startedMs) / 1000;
  agent.destroy();
  taken.sort((a, b) => a - b);
  return { perSecond: requests / seconds, p99Ms: taken[Math.floor(taken.length * 0.99)] ?? NaN };
}

function median(loads: readonly Load[]): Load {
  const sorted = loads.toSorted((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] as Load;
}

/** The servers run in processes of their own, so that the client takes the same from both. */
async function serveEmulator(): Promise<void> {
  const emulator = await startEmulator();
  process.send?.(emulator.url);
}

function serveBare(answer: string): void {
  const bare = createServer((received, response) => {
    received.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer));
  });
  bare.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`));
}

async function startServer(...args: readonly string[]): Promise<{ url: string; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), args);
  const [url] = (await once(child, 'message')) as [string];
  return { url, stop: () => void child.kill() };
}

async function compareAnswers(requests: number, rounds: number): Promise<void> {
  const agent = new Agent();
  const emulator = await startServer('--serve', 'emulator');
  await post(emulator.url, '/v1/routers', agent, JSON.stringify({ slug: 'bench', name: 'Bench' }));
  const answer = await post(emulator.url, path, agent, body);
  const bare = await startServer('--serve', 'bare', '--answer', answer);
  const loads: { bare: Load[]; emulator: Load[] } = { bare: [], emulator: [] };
  for (const { url } of [bare, emulator]) await load(url, requests);
  for (let round = 0; round < rounds; round++) {
    loads.bare.push(await load(bare.url, requests));
    loads.emulator.push(await load(emulator.url, requests));
  }
  for (const server of [bare, emulator]) server.stop();
  const [without, within] = [median(loads.bare), median(loads.emulator)];
  console.log('| image dry run | requests/s | ratio | p99 ms |\n| --- | ---: | ---: | ---: |');
  console.log(
    `| bare node:http, the same bytes | ${without.perSecond.toFixed(0)} | 1.00 | ${without.p99Ms.toFixed(1)} |`,
  );
  const ratio = (within.perSecond / without.perSecond).toFixed(2);
  console.log(`| emulator | ${within.perSecond.toFixed(0)} | ${ratio} | ${within.p99Ms.toFixed(1)} |\n`);
}

function measureDecisions(): void {
  const { models } = builtInCatalog;
  const thousand = Array.from({ length: 1000 }, (_, index) => {
    const model = models[index % models.length] as (typeof models)[number];
    return { ...model, id: `${model.id}-${index}` };
  });
  const asked = {
    modality: 'image',
    configId: 'bench',
    input: { promptText: 'a lighthouse in the rain' },
    settings: defaultRouterSettings,
  } as const;
  const costOf = (catalog: typeof builtInCatalog): number => {
    const startedMs = performance.now();
    for (let count = 0; count < 200; count++) decide(asked, catalog, () => false);
    return ((performance.now() - startedMs) / 200) * 1000;
  };
  console.log('| one decision | best of 20, us |\n| --- | ---: |');
  for (const [name, catalog] of [
    ['built-in catalog', builtInCatalog],
    ['1 000 models', { ...builtInCatalog, models: thousand }],
  ] as const) {
    const best = Math.min(...Array.from({ length: 20 }, () => costOf(catalog)));
    console.log(`| ${name} | ${best.toFixed(0)} |`);
  }
}

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { requests: text, rounds: text, serve: text, answer: text } });
if (values.serve === 'emulator') await serveEmulator();
else if (values.serve === 'bare') serveBare(values.answer ?? '');
else {
  await compareAnswers(Number(values.requests ?? 4000), Number(values.rounds ?? 3));
  measureDecisions();
}
