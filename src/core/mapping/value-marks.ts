/** How the values of a mapping are written, as far as a kernel can read it. */
import type { DecimalFormat } from '../numbers/decimal.ts';
import { type NumberMarks, canonicalMarks } from '../numbers/spelling.ts';
import type { Mapping } from '../settings.ts';
import type { WrittenBy } from './column-batch.ts';
import { loneColumn } from './template.ts';

/** Beyond it marks are read as texts. */
const marksMax = 1 << 14;

/** The marks of each entry, and before them the canonical ones. */
export function marksOf(mapping: Mapping): readonly NumberMarks[] {
  return [canonicalMarks, ...mapping.drivers.map(({ value }) => marksOfFormat(value.format))];
}

function marksOfFormat({ decimal, group }: DecimalFormat): NumberMarks {
  const isSimple = group?.sizes.length === 1 && group.sizes[0] === 3 && isAscii(group.mark);
  return { decimal, group: isSimple ? group.mark : undefined };
}

/**
 * By column, how its values are written; columns that entries read in different ways are not among them.
 * @param placesOf where rows and their long rows have the column that is named so
 */
export function writtenBy(
  mapping: Mapping,
  placesOf: (column: string) => Iterable<number>,
): ReadonlyMap<number, WrittenBy> {
  const found = new Map<number, WrittenBy | undefined>();
  for (const [index, { value }] of mapping.drivers.entries()) {
    const column = loneColumn(value.from);
    if (column === undefined) continue;
    const written = writtenByEntry(value.format, index);
    for (const place of placesOf(column)) {
      if (!found.has(place)) found.set(place, written);
      else if (!isWrittenAlike(found.get(place), written)) found.set(place, undefined);
    }
  }
  return new Map([...found].filter((one): one is [number, WrittenBy] => one[1] !== undefined));
}

function writtenByEntry(format: DecimalFormat, index: number): WrittenBy | undefined {
  const { decimal, accounting: isAccounting } = format;
  const { group } = marksOfFormat(format);
  const isCanonical = decimal === '.' && group === undefined && !isAccounting;
  const isReadable = isAscii(decimal) && decimal !== '"' && group !== '"' && index + 1 < marksMax;
  return isCanonical || !isReadable ? undefined : { decimal, group, isAccounting, marks: index + 1 };
}

function isWrittenAlike(one: WrittenBy | undefined, other: WrittenBy | undefined): boolean {
  return one?.decimal === other?.decimal && one?.group === other?.group && one?.isAccounting === other?.isAccounting;
}

function isAscii(mark: string): boolean {
  return mark.length === 1 && mark.charCodeAt(0) < 0x80;
}
