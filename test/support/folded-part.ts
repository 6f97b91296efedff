/** The readings of a part, folded here from its batches or by threads, so that both can be compared. */
import { expect } from 'vitest';
import type { Batch } from '../../src/core/mapping/column-batch.ts';
import { RowMapper, rowText } from '../../src/core/mapping/row-mapper.ts';
import type { Reject } from '../../src/core/model.ts';
import type { FoldJob, FoldedPart } from '../../src/core/ports.ts';
import { Fold } from '../../src/core/series/fold/fold.ts';
import { mergeDrivers, placeOrder } from '../../src/core/series/merge-folds.ts';
import { type FoldedDriver, unpackDriver } from '../../src/core/series/packing.ts';
import type { Mapping } from '../../src/core/settings.ts';

/** Drivers in the order of their ids. */
export type Folded = Pick<FoldedPart, 'counts' | 'rejects'> & { readonly drivers: readonly FoldedDriver[] };

export interface Folding {
  readonly mapping: Mapping;
  readonly rules: FoldJob['rules'];
  /** Rejects that are kept. */
  readonly rejectsMax: number;
}

/** In one run of rows. */
export async function foldBatches(reading: AsyncIterable<Batch>, folding: Folding): Promise<Folded> {
  const { mapping, rules, rejectsMax } = folding;
  const fold = new Fold(1);
  const rejects: Reject[] = [];
  const counts = { rows: 0, passed: 0, rejects: 0 };
  let mapper: RowMapper | undefined;
  for await (const batch of reading) {
    mapper ??= new RowMapper(mapping, batch.columns, rules);
    const { rows } = counts;
    counts.passed += mapper.read(batch, rows, fold, {
      reject: (at, reason) => {
        counts.rejects++;
        rejects.push({ row: rows + at + 1, reason, text: rowText(batch.row(at)) });
      },
    });
    counts.rows += batch.count;
  }
  return { drivers: byId([...fold.drain()].map(unpackDriver)), rejects: rejects.slice(0, rejectsMax), counts };
}

/** By whoever takes a job, such as threads; `undefined` where it leaves the part to the other way. */
export async function foldPieces<Part extends Pick<FoldedPart, 'counts' | 'rejects'>>(
  { mapping, rules, rejectsMax, foldMax }: Folding & Pick<FoldJob, 'foldMax'>,
  run: (job: FoldJob) => Promise<Part | undefined> | undefined,
): Promise<(Part & Folded) | undefined> {
  const pieces: FoldedDriver[] = [];
  const folded = await run({
    mapping,
    rules,
    part: 1,
    rejectsMax,
    foldMax,
    add: (drivers) => void pieces.push(...drivers.map(unpackDriver)),
    progress: () => undefined,
  });
  if (folded === undefined) return undefined;
  const order = placeOrder(() => expect.unreachable());
  const groups = Map.groupBy(pieces, ({ id }) => id);
  return { ...folded, drivers: byId([...groups.values()].map((folds) => mergeDrivers(folds, order))) };
}

function byId(drivers: readonly FoldedDriver[]): readonly FoldedDriver[] {
  return drivers.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Ties within a part are looked for in steps of the file, and only in ranges. */
export function withoutTies<Part extends Folded>(part: Part): Part {
  const untied = part.drivers.map((driver) => ({
    ...driver,
    cells: driver.cells.map((cell) => ({ ...cell, tie: undefined })),
  }));
  return { ...part, drivers: untied };
}
