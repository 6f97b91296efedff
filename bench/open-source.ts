/** A source of the agent alone, without a config around it. */
import { plainDecimal } from '../src/core/numbers/decimal.ts';
import type { DriverEntry, Mapping } from '../src/core/settings.ts';
import type { Source } from '../src/core/ports.ts';
import { kinds } from '../src/sources/index.ts';
import { template } from '../test/support/templates.ts';

/** @param keys as a config has them, without those that all sources share */
export function openSource(type: string, keys: object, baseDir: string, drivers: readonly DriverEntry[] = []): Source {
  const { [type]: kind } = kinds;
  if (kind === undefined) throw new Error(`there is no type ${type}`);
  const mapping = mappingOf(drivers);
  return kind.open(kind.schema.parse(keys), {
    name: 'bench',
    baseDir,
    clock: { now: () => new Date(), monotonicMs: () => performance.now(), sleep: async () => undefined },
    mapping,
    timezone: 'UTC',
  });
}

export function mappingOf(drivers: readonly DriverEntry[]): Mapping {
  return { where: [], missing: [''], unpivot: undefined, fillDown: [], maps: {}, drivers };
}

/** Drivers of the table `revenue` that the benchmarks of databases fill. */
export function revenueEntry(collapse: DriverEntry['rule']): DriverEntry {
  return {
    id: template('revenue/{region}/{product}'),
    path: ['Revenue', '{region}', '{product}'].map(template),
    time: {
      from: template('{date}'),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: template('{amount}'), format: plainDecimal },
    spread: undefined,
    rule: collapse,
  };
}
