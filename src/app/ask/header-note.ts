/** Where columns are missing since lines stand above the header: which row names them. */
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { Row } from '../../core/model.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { trimWhiteSpace } from '../../core/text.ts';

/** More rows than that stand above no table. */
const rowsMax = 30;

/** `undefined` where no row has all of the columns that are missing, or the kind of source has nothing above its rows. */
export function headerNote(
  { kind }: Pick<SourceSettings, 'kind'>,
  part: string,
  first: Batch,
  missing: readonly string[],
): string | undefined {
  if (missing.length === 0 || typeof kind !== 'object' || kind === null || !('skipUntil' in kind || 'skipRows' in kind))
    return undefined;
  for (let at = 0; at < Math.min(first.count, rowsMax); at++) {
    const cells = first.row(at).map(trimWhiteSpace);
    if (missing.every((name) => cells.includes(name))) {
      return `row ${at + 1} of ${part} has ${missing.length === 1 ? 'this name' : 'all these names'}: where it is the header, ${skippingTo(cells)} leaves out what stands above it`;
    }
  }
  return undefined;
}

/** Where its first cell needs no escapes, by that: blank lines above need not be counted then. */
function skippingTo([cell = '']: Row): string {
  return /^[\p{L}\p{N}][\p{L}\p{N} _-]*$/u.test(cell) ? `skipUntil: "^${cell}"` : 'skipUntil or skipRows';
}
