/** Reads the faults of a source: why fields cannot be used. */
import type { Source } from '../../src/core/ports.ts';
import { calm } from './source-world.ts';
import { rowsOf } from './mapping.ts';

export interface FaultyPart {
  /** `row 2 amount: cell B3 holds …`, rows counted from 1. */
  readonly faults: readonly string[];
  /** The faulty fields' texts, in the same order. */
  readonly texts: readonly string[];
  /** How many batches have a `fault` at all. */
  readonly faultyBatches: number;
}

/** The faults of the first part. */
export async function readFaults(source: Source): Promise<FaultyPart> {
  const [part] = await source.parts(calm);
  const faults: string[] = [];
  const texts: string[] = [];
  let faultyBatches = 0;
  let rowsBefore = 0;
  for await (const batch of source.rows(part!, calm)) {
    const { columns, fault } = batch;
    const rows = rowsOf(batch);
    if (fault !== undefined) faultyBatches++;
    for (const [at, row] of rows.entries()) {
      for (const [column, name] of columns.entries()) {
        const reason = fault?.(at, column);
        if (reason === undefined) continue;
        faults.push(`row ${rowsBefore + at + 1} ${name}: ${reason}`);
        texts.push(row[column]!);
      }
    }
    rowsBefore += rows.length;
  }
  return { faults, texts, faultyBatches };
}
