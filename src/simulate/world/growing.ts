/**
 * Files of the simulated world that grow. As with real ones, their old rows are compared: where a file is the same one and longer, only
 * some of them are, so that a number that was changed above may not be seen until all are.
 */
import type { ReadEnd } from '../../core/model.ts';
import type { EarlierRead, GrownPart } from '../../core/ports.ts';
import { sheetOf } from '../rows/books.ts';
import { type Place, type Sheet, type WrittenRow, nodeOf, seenIn } from './place.ts';

/** What one read of a file gives: rows, and the sheet that it is then known to be. */
export interface Shown {
  readonly rows: readonly WrittenRow[];
  readonly sheet: Sheet;
}

/** Where rows that are appended to a sheet can be read alone. */
export function endOf({ grows, known }: Place, sheet: Sheet): ReadEnd | undefined {
  if (!grows || !sheet.endsWithLineEnd) return undefined;
  known.set(sheet.hash, sheet);
  return { bytes: sheet.rows.length, blocks: new Uint8Array(), format: sheet.hash };
}

export function lookAt(place: Place, name: string, { end, version: was, wants }: EarlierRead): GrownPart {
  const file = seenIn(place, name);
  const { sheet, version } = file;
  const before = knownIn(place, end);
  const hasGrown = sheet.rows.length > before.rows.length || !sheet.endsWithLineEnd;
  const isProven = wants === 'proof' || !hasGrown || nodeOf(version) !== nodeOf(was);
  const isTorn = place.kind.isText && !sheet.endsWithLineEnd;
  const state = holds(before, sheet, isProven) ? (hasGrown ? (isTorn ? 'torn' : 'grown') : 'same') : 'changed';
  place.mark(`file ${state}, by ${isProven ? 'proof' : 'evidence'}`);
  // All of it was looked at, and the earlier read stands.
  if (state === 'same') place.wasRead(name, file);
  return { version, state, isProven };
}

/** The rows behind those of an earlier read; of the others that read is believed. */
export function shownBehind(place: Place, sheet: Sheet, end: ReadEnd): Shown {
  const before = knownIn(place, end);
  const rows = sheet.rows.slice(before.rows.length);
  const { columns, endsWithLineEnd } = sheet;
  const whole = sheetOf(columns, [...before.rows, ...rows], { endsWithLineEnd });
  const isStale = whole.hash !== sheet.hash;
  if (isStale) place.mark('file changed above, unseen');
  return { rows, sheet: { ...whole, isStale } };
}

function knownIn({ known }: Place, { format }: ReadEnd): Sheet {
  const sheet = known.get(format);
  if (sheet === undefined) throw new Error('a file is compared with what was never read of it');
  return sheet;
}

/** Whether the rows of an earlier read are still there, as far as that is looked at. */
function holds(before: Sheet, now: Sheet, isProven: boolean): boolean {
  const count = before.rows.length;
  const isLookedAt = (at: number): boolean => isProven || at === 0 || at >= count - 2 || at === now.rows.length % count;
  return (
    now.fault === undefined &&
    now.rows.length >= before.rows.length &&
    isSameRow(before.columns, now.columns) &&
    before.rows.every(({ fields }, at) => !isLookedAt(at) || isSameRow(fields, now.rows[at]?.fields ?? []))
  );
}

function isSameRow(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}
