/** The emulator's model routing: dry runs beside a bare node:http server that returns the same bytes, and one decision over many models. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { defaultRouterSettings } from '../src/contract/routing-settings.ts';
import { builtInCatalog } from '../src/emulator/routing/catalog.ts';
import { decide } from '../src/emulator/routing/pipeline.ts';
import { benchFile } from './agent.ts';
import type { Place, Sizes, Table } from './measurement.ts';
import { type Result, median } from './measure.ts';

const connections = 16;
const body = JSON.stringify({ configId: 'bench', dryRun: true, input: { promptText: 'a lighthouse in the rain' } });
const path = '/v1/generate/image';

interface Load {
  readonly seconds: number;
  readonly p99Ms: number;
}

export async function routing(_place: Place, { requests, runs }: Sizes): Promise<Table> {
  const agent = new Agent();
  const emulator = await startServer('emulator');
  await post(emulator.url, '/v1/routers', agent, JSON.stringify({ slug: 'bench', name: 'Bench' }));
  const bare = await startServer('bare', await post(emulator.url, path, agent, body));
  agent.destroy();
  const loads: { bare: Load[]; emulator: Load[] } = { bare: [], emulator: [] };
  for (const { url } of [bare, emulator]) await load(url, requests);
  for (let round = 0; round < runs; round++) {
    loads.bare.push(await load(bare.url, requests));
    loads.emulator.push(await load(emulator.url, requests));
  }
  for (const server of [bare, emulator]) server.stop();
  const [without, within] = [
    resultOf('bare node:http, the same bytes', loads.bare),
    resultOf('emulator', loads.emulator),
  ];
  const p99 = (all: readonly Load[]): string => median(all.map(({ p99Ms }) => p99Ms)).toFixed(1);
  return {
    title: `${requests} dry runs of an image, over ${connections} connections`,
    results: [without, within],
    figures: [
      {
        name: 'dry runs of the emulator in the time of one by bare node:http',
        value: without.seconds / within.seconds,
        unit: 'times',
        better: 'more',
        must: 0.5,
        aim: 0.8,
      },
      { name: 'one decision over 1000 models', value: decisionMs(), unit: 'ms', better: 'less', must: 0.1 },
    ],
    notes: [`p99: ${p99(loads.bare)} ms of node:http, ${p99(loads.emulator)} ms of the emulator.`],
  };
}

function resultOf(name: string, loads: readonly Load[]): Result {
  return { name, seconds: median(loads.map(({ seconds }) => seconds)), cpuSeconds: NaN, peakMb: NaN };
}

/** The servers run in processes of their own, so that the client takes the same from both. */
async function startServer(...args: readonly string[]): Promise<{ url: string; stop: () => void }> {
  const child = fork(benchFile('routing-server'), args);
  const [url] = (await once(child, 'message')) as [string];
  return { url, stop: () => void child.kill() };
}

/** Sends `requests` over a few open connections. */
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
  return { seconds, p99Ms: taken[Math.floor(taken.length * 0.99)] ?? NaN };
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

/** The best of 20 rounds. */
function decisionMs(): number {
  const { models } = builtInCatalog;
  const thousand = Array.from({ length: 1000 }, (_, index) => {
    const model = models[index % models.length] as (typeof models)[number];
    return { ...model, id: `${model.id}-${index}` };
  });
  const catalog = { ...builtInCatalog, models: thousand };
  const asked = {
    modality: 'image',
    configId: 'bench',
    ceilingPer: 'generation',
    costOutcomeOfOne: 'cost',
    input: { promptText: 'a lighthouse in the rain' },
    settings: defaultRouterSettings,
  } as const;
  const round = (): number => {
    const startedMs = performance.now();
    for (let count = 0; count < 200; count++) decide(asked, catalog, () => false);
    return (performance.now() - startedMs) / 200;
  };
  return Math.min(...Array.from({ length: 20 }, round));
}
