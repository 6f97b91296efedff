/** What one row with a time and a value gives under a config: tables of texts and what becomes of them. */
import { expect, test } from 'vitest';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import { readRow, sinkOf } from './mapping.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { settings } from './config-world.ts';

export const rejected = Symbol('rejected');
export const nothing = Symbol('no reading');

type Outcome = string | typeof rejected | typeof nothing;
type Table = readonly (readonly [text: string, outcome: Outcome])[];

interface Keys {
  /** YAML flow text for the keys of `drivers[0]`, whose columns are `t` and `v`. */
  readonly time?: string;
  readonly value?: string;
  readonly missing?: string;
  readonly timezone?: string;
}

/** One test for each text of a value. */
export function numbers(keys: Keys, table: Table): void {
  const read = reader(keys);
  test.each(table)('%j is %s', (text, outcome) => {
    expect(read('2026-03-01', text).value).toBe(outcome);
  });
}

/** One test for each text of a time. */
export function months(keys: Keys, table: Table): void {
  const read = reader(keys);
  test.each(table)('%j is %s', (text, outcome) => {
    expect(read(text, '1').month).toBe(outcome);
  });
}

function reader(keys: Keys): (time: string, value: string) => { month: Outcome; value: Outcome } {
  const { timezone = 'UTC', time = '"{t}"', value = '"{v}"', missing } = keys;
  const yaml = `timezone: ${timezone}
destination: emulator
sources:
  s:
    type: csv
    files: [a.csv]
${missing === undefined ? '' : `    missing: ${missing}\n`}    drivers:
      - path: [a]
        time: ${time}
        value: ${value}
`;
  let mapping: Mapping | undefined;
  return (timeText, valueText) => {
    mapping ??= settings(yaml).sources[0]!.mapping;
    const mapper = new RowMapper(mapping, ['t', 'v'], { timezone, calendar: undefined });
    const found: { month: Outcome; value: Outcome }[] = [];
    const sink = sinkOf((_name, { month }, read) => void found.push({ month: formatMonth(month), value: read.value }));
    const result = readRow(mapper, { columns: ['t', 'v'], rows: [[timeText, valueText]] }, 0, sink);
    if (typeof result === 'object') return { month: rejected, value: rejected };
    return found[0] ?? { month: nothing, value: nothing };
  };
}
