/** What reads the rows of a range, by how the file is written. */
import type { ColumnNeed } from '../../../core/mapping/column-batch.ts';
import { carriageReturn, lineFeed } from './block.ts';
import { JsonKeys } from './json-keys.ts';
import { JsonScanner, isSpace } from './json-scanner.ts';
import type { Kernel } from './kernel/kernel.ts';
import { Scanner, batchRowsOf } from './scanner.ts';
import { singleByteText, utf8 } from './text-bytes.ts';

/** How a file is written. Can be cloned. */
export type RangeFormat =
  | {
      readonly kind: 'delimited';
      /** The label of a single-byte encoding; `undefined` for UTF-8. */
      readonly encoding: string | undefined;
      readonly delimiter: number;
      readonly comment: string | undefined;
      readonly isOneColumn: boolean;
    }
  | { readonly kind: 'jsonLines' };

/** See `Scanner`. */
export type RangeScanner = Pick<Scanner, 'block' | 'isFull' | 'offset' | 'scan' | 'take'> & {
  /** Whether the last scan ended at the beginning of a row, or behind the last one. */
  readonly isAtRow: boolean;
};

/** @param bytes of a block */
export function rangeScanner(
  kernel: Kernel,
  format: RangeFormat,
  { columns, needs, bytes }: { columns: readonly string[]; needs: readonly ColumnNeed[]; bytes: number },
): RangeScanner {
  if (format.kind === 'jsonLines') {
    return new JsonScanner(kernel, 'lines', new JsonKeys(kernel, columns), { needs, bytes });
  }
  const { encoding: label, delimiter, comment, isOneColumn } = format;
  const encoding = (label === undefined ? undefined : singleByteText(label)) ?? utf8;
  const layout = {
    encoding,
    delimiter,
    comment: comment === undefined ? undefined : encoding.encode(comment),
    columns,
    needs,
    isOneColumn,
    rowsMax: batchRowsOf(needs),
  };
  return new Scanner(kernel, layout, { lines: 0, bytes });
}

/** Where a row begins behind a line end, if that is none within quotes; `undefined` where the bytes tell of none. */
export function guessRow(bytes: Buffer, { kind }: RangeFormat): number | undefined {
  if (kind === 'jsonLines') {
    let at = bytes.indexOf(lineFeed);
    if (at < 0) return undefined;
    while (at < bytes.length && isSpace[bytes[at] as number] === 1) at++;
    return at < bytes.length ? at : undefined;
  }
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === lineFeed) return at + 1;
    if (bytes[at] === carriageReturn && at + 1 < bytes.length && bytes[at + 1] !== lineFeed) return at + 1;
  }
  return undefined;
}
