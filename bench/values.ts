/** What judging values adds to a pass: the same reads with `guard.values` off and on. */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { agentArgs, directory, writeConfig } from './agent.ts';
import { writeWide } from './generate.ts';
import { type Place, type Sizes, type Table, resultOf } from './measurement.ts';
import { compare } from './measure.ts';

const keys = ['type: csv', 'files: ["export.csv"]', 'settle: 0s'];
const mapping = [
  String.raw`unpivot: { columns: "^\\d{4}-\\d{2}$", name: month, value: amount }`,
  'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{month}", value: "{amount}" }]',
];

export async function values(place: Place, { wideDrivers, months, runs }: Sizes): Promise<Table> {
  const wide = (size: { months: number; seed: number }): string => {
    const file = path.join(place.dataDir, `wide-${wideDrivers}x${size.months}-${size.seed}.csv`);
    writeWide(file, { drivers: wideDrivers, ...size });
    return file;
  };
  const prepared = directory(place, 'values-prepared');
  const copy = path.join(place.workDir, 'values');
  const put = (dir: string, file: string, guard: string): string => {
    cpSync(file, path.join(dir, 'export.csv'));
    return writeConfig(dir, place.url, { keys, mapping, agent: [`guard: { values: ${guard} }`] });
  };
  const first = put(prepared, wide({ months, seed: 1 }), 'off');
  await compare([{ name: 'first read', args: agentArgs(place, 'sync', first) }], 1);
  const args = agentArgs(place, 'sync', path.join(copy, 'driver-sync.yaml'));
  const sync = (name: string, file: string, guard: string) => ({
    name,
    args,
    before: (): void => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(prepared, copy, { recursive: true });
      put(copy, file, guard);
    },
  });
  const [month, other] = [wide({ months: months + 1, seed: 1 }), wide({ months, seed: 2 })];
  const results = await compare(
    [
      sync('a new month, values not judged', month, 'off'),
      sync('a new month', month, 'hold'),
      sync('all values changed, not judged', other, 'off'),
      sync('all values changed', other, 'hold'),
    ],
    runs,
  );
  rmSync(copy, { recursive: true, force: true });
  const judged = resultOf(results, 'a new month').cpuSeconds;
  const notJudged = resultOf(results, 'a new month, values not judged').cpuSeconds;
  return {
    title: `Judging the values of ${wideDrivers} drivers x ${months} months`,
    results,
    figures: [
      {
        name: 'CPU of a pass that judges its values, a new month',
        value: judged / notJudged,
        unit: 'times',
        better: 'less',
        must: 1.03,
      },
    ],
  };
}
