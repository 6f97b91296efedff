/** Rows and readings for tests of the mapping and the fold. */
import type { Batch } from '../../src/core/mapping/column-batch.ts';
import { RowCoder } from '../../src/core/mapping/row-coder.ts';
import { type DriverName, Readings, type ReadingSink, eachReading } from '../../src/core/mapping/reading.ts';
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

/** One reading, as a mapping gives it. */
export function readingsOf({ name, moment, value, text = '', row = 1, count = 1, entry = 0 }: GivenReading): Readings {
  const readings = new Readings();
  readMantissa(value, 0, readings);
  readings.named[0] = readings.names.add(name);
  readings.timed[0] = readings.times.add({ text: '', moment });
  readings.values.push(value);
  readings.spelled[0] = text === '' ? 0 : 1;
  readings.texts.push(text);
  readings.rows[0] = row;
  if (count !== 1) readings.collapsed(count, undefined);
  readings.entries[0] = entry;
  readings.count = 1;
  return readings;
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
