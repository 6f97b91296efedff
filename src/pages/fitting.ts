/** How much of a list a page shows. Names and values are as long as people make them, and a page is read on a phone. */
import type { Html } from './markup.ts';

type Cell = Html | string | number;

/** The markup around a cell. */
const cellBytes = 60;

/** The first items, or rows of cells, that come to no more than so many bytes; at least one. */
export function fitting<T extends Cell | readonly Cell[]>(items: readonly T[], bytesMax: number): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > bytesMax;
  });
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}

function bytesOf(item: Cell | readonly Cell[]): number {
  const cells = Array.isArray(item) ? (item as readonly Cell[]) : [item as Cell];
  return cells.reduce<number>((sum, cell) => sum + cellBytes + Buffer.byteLength(textOf(cell)), 0);
}

/** Markup is text, unless a promise was put into it, and no page does that. */
function textOf(cell: Cell): string {
  return cell instanceof Promise ? '' : String(cell);
}
