/** What gathers a bug report, beside a small state and beside a large one. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { agentArgs, csvKeys, directory, sampleConfig, wideFile, wideMapping, writeConfig } from './agent.ts';
import { type Place, type Sizes, type Table, resultOf } from './measurement.ts';
import { type Program, compare } from './measure.ts';

export async function support(place: Place, { wideDrivers, months, runs }: Sizes): Promise<Table> {
  const file = wideFile(place, { drivers: wideDrivers, months, seed: 1 });
  const wide = writeConfig(directory(place, 'support'), place.url, { keys: csvKeys(file), mapping: wideMapping });
  const sample = sampleConfig(place);
  for (const config of [sample, wide]) await compare([{ name: 'first', args: agentArgs(place, 'sync', config) }], 1);
  const small = '`support` of the sample';
  const large = `\`support\` beside ${wideDrivers * months} points`;
  const results = await compare(
    [{ name: '`node -e 0`', args: ['-e', '0'] }, gathers(place, small, sample), gathers(place, large, wide)],
    runs,
  );
  const figure = (name: string, program: string) =>
    ({ name, value: resultOf(results, program).seconds * 1000, unit: 'ms', better: 'less', must: 1000 }) as const;
  return {
    title: 'An archive for a bug report',
    results,
    figures: [figure('support: of the sample', small), figure('support: beside many points', large)],
  };
}

function gathers({ agent }: Place, name: string, config: string): Program {
  const archive = path.join(path.dirname(config), 'support.tar.gz');
  return {
    name,
    args: [agent, 'support', '--config', config, '--output', archive],
    before: () => rmSync(archive, { force: true }),
  };
}
