/** How long nobody leads: from when an agent is told to end, or its term is over after it was killed, until another one leads. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type TestServer, postgresServer } from '../test/support/servers.ts';
import { agentArgs, csvKeys, directory, longFile, writeConfig } from './agent.ts';
import type { Figure, Place, Sizes, Table } from './measurement.ts';
import { type Helper, median, startHelper } from './measure.ts';

const takeOver = '3s';

/** Two agents of one ledger, in turn: the one that leads ends, and is started again. All moments are of the clock of the database. */
export async function handOver(place: Place, sizes: Sizes): Promise<Table> {
  await using server = await postgresServer();
  const file = longFile(place, sizes, { days: 1, order: 'daily' });
  const agent = [`ledger: { url: "${server.url()}", takeOver: ${takeOver} }`];
  const configs = ['one', 'two'].map((name) =>
    writeConfig(directory(place, `hand-over-${name}`), place.url, { keys: csvKeys(file), agent }),
  );
  const start = (config = ''): Helper => startHelper(agentArgs(place, 'run', config));
  const agents = [start(configs[0])];
  const toldMs: number[] = [];
  const overMs: number[] = [];
  try {
    await leads(server, agents[0]!);
    agents.push(start(configs[1]));
    for (let round = 0; round < 4 * sizes.runs; round++) {
      const [leading, other] = agents as [Helper, Helper];
      await areReady(server, agents);
      const signal = round % 2 === 0 ? 'SIGTERM' : 'SIGKILL';
      const { now: told } = await lead(server);
      leading.process.kill(signal);
      await once(leading.process, 'exit');
      // A term that was given back has no deadline any more.
      const { deadline } = await lead(server);
      const since = await leads(server, other);
      if (signal === 'SIGTERM') toldMs.push(since - told);
      else overMs.push(since - deadline);
      agents.splice(0, 2, other, start(configs[round % 2]));
    }
  } finally {
    for (const one of agents) await one[Symbol.asyncDispose]();
  }
  const result = (name: string, ms: readonly number[]) => ({
    name,
    seconds: median(ms) / 1000,
    cpuSeconds: NaN,
    peakMb: NaN,
  });
  const figure = (name: string, ms: readonly number[], must: number): Figure => {
    return { name, value: Math.max(...ms), unit: 'ms', better: 'less', must };
  };
  return {
    title: `Two agents of one ledger, takeOver: ${takeOver}`,
    results: [result('told to end', toldMs), result('killed, from the end of its term', overMs)],
    figures: [
      figure('an agent is told to end: until another one leads', toldMs, 1000),
      figure('an agent is killed: until another one leads, from the end of its term', overMs, 1000),
    ],
    notes: [`The figures are the highest of ${toldMs.length} times each, on one machine.`],
  };
}

interface Lead {
  readonly pid: number;
  readonly now: number;
  readonly since: number;
  readonly deadline: number;
}

async function lead(server: TestServer): Promise<Lead> {
  const ms = (moment: string): string => `extract(epoch FROM ${moment})::float8 * 1000`;
  const sql = `SELECT pid::int, ${ms('clock_timestamp()')} AS now, ${ms('since')} AS since, ${ms('deadline')} AS deadline`;
  return (await server.run(`${sql} FROM driver_sync.lead`))[0] as unknown as Lead;
}

/** Waits until an agent leads. Gives since when. */
async function leads(server: TestServer, { process: { pid } }: Helper): Promise<number> {
  for (;;) {
    const found = await lead(server).catch(() => undefined);
    if (found?.pid === pid) return found!.since;
    await wait(20);
  }
}

/** Waits until both have read and say what they would push. */
async function areReady(server: TestServer, agents: readonly Helper[]): Promise<void> {
  const pids = agents.map(({ process: { pid } }) => pid).join(', ');
  const sql = `SELECT 1 FROM driver_sync.agent WHERE pid IN (${pids}) AND said::json -> 'would' IS NOT NULL`;
  while ((await server.run(sql)).length < agents.length) await wait(20);
}
