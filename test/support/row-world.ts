/** Mappings as tests write them, and what rows come to by them. */
import { type DecimalFormat, plainDecimal } from '../../src/core/numbers/decimal.ts';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import type { Rule } from '../../src/core/model.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { DriverEntry, Mapping } from '../../src/core/settings.ts';
import { readRow, sinkOf } from './mapping.ts';
import { template } from './templates.ts';

interface Written {
  readonly id?: string;
  readonly path: string[];
  readonly time?: string;
  readonly value?: string;
  readonly format?: DecimalFormat;
  readonly rule?: Rule;
}

export function entry(written: Written): DriverEntry {
  return {
    id: written.id === undefined ? undefined : template(written.id),
    path: written.path.map(template),
    time: {
      from: template(written.time ?? '{date}'),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: template(written.value ?? '{amount}'), format: written.format ?? plainDecimal },
    spread: undefined,
    rule: written.rule ?? 'last',
  };
}

export function mapping(drivers: readonly DriverEntry[], more: Partial<Mapping> = {}): Mapping {
  return { where: [], missing: [''], fillDown: [], unpivot: undefined, maps: {}, drivers, ...more };
}

export const utc = { timezone: 'UTC', calendar: undefined };

/** Reads rows and gives what came of each: readings as `id month value`, `filtered`, or the reject's reason. */
export function readAll(map: Mapping, columns: string[], rows: string[][], shared = {}): unknown[] {
  const mapper = new RowMapper(map, columns, utc, { shared });
  return rows.map((fields, index) => {
    const readings: string[] = [];
    const sink = sinkOf(({ id }, { month }, { value }) => void readings.push(`${id} ${formatMonth(month)} ${value}`));
    const result = readRow(mapper, { columns, rows: [fields] }, index, sink);
    return result ?? readings;
  });
}
