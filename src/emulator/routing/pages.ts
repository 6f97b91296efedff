/** Pages of a list, newest first, as the vendor's interface description has them. */
import { invalidAt } from './refusal.ts';
import type { Kept } from './store.ts';

export interface PageQuery {
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface Page<Row> {
  readonly data: Row[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

const limitDefault = 50;
const limitMax = 100;
const cursorCharactersMax = 1_000;

/**
 * A page of `rows`, which are oldest first. The cursor is the `seq` of the last row of a page, so that rows which come or
 * go do not move the others; `list` binds it to one list.
 *
 * @throws Refusal (400) for a limit that is not 1 to 100, or a cursor that was not given out for this list.
 */
export function pageOf<Row extends Kept>(rows: Iterable<Row>, list: string, query: PageQuery): Page<Row> {
  const limit = readLimit(query.limit);
  const before = query.cursor === undefined ? Infinity : readCursor(query.cursor, list);
  const older = [...rows].reverse().filter(({ seq }) => seq < before);
  const data = older.slice(0, limit);
  const last = data.at(-1);
  const hasMore = older.length > limit;
  return { data, hasMore, nextCursor: hasMore && last !== undefined ? writeCursor(last.seq, list) : null };
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return limitDefault;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax) {
    throw invalidAt(['limit'], `must be an integer from 1 to ${limitMax}`, 'query');
  }
  return limit;
}

function readCursor(cursor: string, list: string): number {
  if (cursor.length > cursorCharactersMax) {
    throw invalidAt(['cursor'], `must have at most ${cursorCharactersMax} characters`, 'query');
  }
  const seq = Number(/^(\d{1,15})@/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]);
  // Encoded again for comparison, so that only cursors in the form that was given out are accepted.
  if (Number.isNaN(seq) || writeCursor(seq, list) !== cursor) {
    throw invalidAt(['cursor'], 'is not a cursor of this list', 'query');
  }
  return seq;
}

function writeCursor(seq: number, list: string): string {
  return Buffer.from(`${seq}@${list}`, 'latin1').toString('base64url');
}
