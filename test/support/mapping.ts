/** Rows and readings for tests of the mapping and the fold. */
import { type Batch, rowAt, rowCount } from '../../src/core/mapping/column-batch.ts';
import type { Reading, ReadingSink } from '../../src/core/mapping/reading.ts';
import type { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import type { Row, RowBatch } from '../../src/core/model.ts';
import { readMantissa } from '../../src/core/numbers/mantissa.ts';

/** A reading of a canonical value, as a mapping gives it. */
export function reading(value: string, more: Partial<Reading> = {}): Reading {
  const read = { mantissas: new Float64Array(1), scales: new Int8Array(1) };
  readMantissa(value, 0, read);
  const [mantissa = 0] = read.mantissas;
  const [scale = 0] = read.scales;
  const fitted = { mantissa, scale, value: scale < 0 ? value : '', text: '' };
  return { ...fitted, time: '', row: 1, count: 1, latest: undefined, entry: 0, ...more };
}

/** What became of a row: `undefined` where its readings were handed over, if any. */
export type RowResult = undefined | 'filtered' | { reject: string };

/** Reads one row, in a batch of its own. */
export function readRow(mapper: RowMapper, batch: RowBatch, rowsBefore: number, sink: ReadingSink): RowResult {
  let rejected: { reject: string } | undefined;
  const passed = mapper.read(batch, rowsBefore, sink, { reject: (_at, reject) => (rejected = { reject }) });
  return rejected ?? (passed === 0 ? 'filtered' : undefined);
}

export function rowsOf(batch: Batch): Row[] {
  return Array.from({ length: rowCount(batch) }, (_, at) => rowAt(batch, at));
}
