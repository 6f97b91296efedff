/** Rows and readings for tests of the mapping and the fold. */
import type { Batch } from '../../src/core/mapping/column-batch.ts';
import { RowCoder } from '../../src/core/mapping/row-coder.ts';
import {
  type DriverName,
  type DriverNames,
  Readings,
  type ReadingSink,
  eachReading,
} from '../../src/core/mapping/reading.ts';
import type { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import type { Moment, Row, RowBatch } from '../../src/core/model.ts';
import { readMantissa } from '../../src/core/numbers/mantissa.ts';

/** What a test says of a reading. */
export interface GivenReading {
  readonly name: DriverName;
  readonly moment: Moment;
  /** Canonical decimal text. */
  readonly value: string;
  /** As read; left out where it equals the value. */
  readonly text?: string;
  readonly row?: number;
  readonly count?: number;
  readonly entry?: number;
}

/** Used for all of them: each has a memory. */
const shared = new Readings();

/** One reading, as a mapping gives it. Only until the next one is asked for. */
export function readingsOf(given: GivenReading): Readings {
  shared.names.clear();
  shared.times.clear();
  shared.cut(0);
  addReading(shared, given);
  return shared;
}

/** The numbers of names, which are given once for all readings of a driver, as a mapping gives them. */
const numbered = new WeakMap<DriverNames, { generation: number; numbers: Map<string, number> }>();

function numberOf(names: DriverNames, name: DriverName): number {
  let known = numbered.get(names);
  if (known?.generation !== names.generation)
    numbered.set(names, (known = { generation: names.generation, numbers: new Map() }));
  const key = JSON.stringify(name);
  let number = known.numbers.get(key);
  if (number === undefined) known.numbers.set(key, (number = names.add(name)));
  return number;
}

/** Adds a reading to others. */
export function addReading(
  readings: Readings,
  { name, moment, value, text = '', row = 1, count = 1, entry = 0 }: GivenReading,
): void {
  readings.reserve(1);
  const into = readings.count;
  readMantissa(value, into, readings);
  readings.named[into] = numberOf(readings.names, name);
  readings.timed[into] = readings.times.add({ text: '', moment });
  readings.values[into] = value;
  readings.spelled[into] = text === '' ? 0 : 1;
  readings.texts[into] = text;
  readings.rows[into] = row;
  if (count !== 1) readings.collapsed(count, undefined);
  readings.entries[into] = entry;
  readings.count++;
}

/** A sink that is told what a test asks for most. */
export function sinkOf(
  add: (name: DriverName, moment: Moment, reading: { value: string; count: number; row: number }) => void,
): ReadingSink {
  return eachReading((all, at) =>
    add(all.name(at), all.moment(at), { value: all.value(at), count: all.counts[at]!, row: all.rows[at]! }),
  );
}

/** What became of a row: `undefined` where its readings were handed over, if any. */
export type RowResult = undefined | 'filtered' | { reject: string };

/** Every column as a text and as a value. */
export function columnsOf(batch: RowBatch): Batch {
  return new RowCoder((columns) => columns.map(() => ({ isCoded: true, isValue: true }))).batch(batch);
}

/** Reads one row, in a batch of its own. */
export function readRow(mapper: RowMapper, batch: RowBatch, rowsBefore: number, sink: ReadingSink): RowResult {
  let rejected: { reject: string } | undefined;
  const passed = mapper.read(columnsOf(batch), rowsBefore, sink, { reject: (_at, reject) => (rejected = { reject }) });
  return rejected ?? (passed === 0 ? 'filtered' : undefined);
}

export function rowsOf(batch: Batch): Row[] {
  return Array.from({ length: batch.count }, (_, at) => batch.row(at));
}
