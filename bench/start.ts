/** What the agent takes where there is nothing to do: a start, and a daemon that waits. */
import { setTimeout as wait } from 'node:timers/promises';
import { agentArgs, csvKeys, directory, longFile, sampleConfig, writeConfig } from './agent.ts';
import { NotMeasured, type Place, type Sizes, type Table, resultOf, slower } from './measurement.ts';
import { compare, readProcess, startHelper } from './measure.ts';

/** A sync where nothing changed, against Node doing nothing. */
export async function unchanged(place: Place, sizes: Sizes): Promise<Table> {
  const sample = sampleConfig(place);
  const long = longFile(place, sizes, { days: sizes.days, order: 'daily' });
  const large = writeConfig(directory(place, 'unchanged'), place.url, { keys: csvKeys(long) });
  for (const config of [sample, large]) await compare([{ name: 'first', args: agentArgs(place, 'sync', config) }], 1);
  const results = await compare(
    [
      { name: '`node -e 0`', args: ['-e', '0'] },
      { name: 'sync of the sample', args: agentArgs(place, 'sync', sample) },
      { name: `sync of ${sizes.drivers * sizes.days} rows`, args: agentArgs(place, 'sync', large) },
    ],
    sizes.runs * 3,
  );
  const nothing = resultOf(results, '`node -e 0`');
  const figure = slower('`node -e 0`, with nothing changed', resultOf(results, 'sync of the sample'), nothing, {
    must: 4,
    aim: 2,
  });
  return { title: 'Nothing changed', results, figures: [figure] };
}

/** The daemon on the sample, once its first push was taken: its first start, which knows nothing yet. */
export async function idle(place: Place, sizes: Sizes): Promise<Table> {
  if (process.platform !== 'linux')
    throw new NotMeasured('what a process takes is read from /proc, which only Linux has');
  const config = sampleConfig(place);
  place.receiver.skip();
  await using daemon = startHelper(agentArgs(place, 'run', config));
  await place.receiver.line();
  await wait(2000);
  const before = readProcess(daemon.process.pid);
  await wait(sizes.idleSeconds * 1000);
  const { cpuSeconds, residentMb } = readProcess(daemon.process.pid);
  const idling = {
    name: 'the sample, pushed once',
    seconds: sizes.idleSeconds,
    cpuSeconds: cpuSeconds - before.cpuSeconds,
    peakMb: residentMb,
  };
  return {
    title: `Daemon idle for ${sizes.idleSeconds} s after its first pass; MB resident at the end`,
    results: [idling],
    figures: [{ name: 'idle daemon', value: residentMb, unit: 'MB', better: 'less', must: 90, aim: 65 }],
  };
}
