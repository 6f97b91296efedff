/** Rows whose names say that they are sums of other rows: each number in them would count twice. */
import { words } from './evidence.ts';
import { type Column, shownName } from './profile.ts';
import type { Names } from './roles.ts';

/** More than these are shown as a pattern of them would be: by the first of them. */
const shownMax = 12;

export function doubtsOfTotals({ keys, codes }: Names): readonly string[] {
  return [...new Set([...keys, ...codes.values()])].flatMap((column) => doubtOfTotals(column));
}

function doubtOfTotals(column: Column): readonly string[] {
  const found = [...column.texts.keys()].filter((text) => words.total.test(text) || words.totalRow.test(text));
  // A column of results, or of types of sums, has nothing that they are the sums of.
  if (found.length === 0 || found.length === column.texts.size) return [];
  const listed = found.slice(0, shownMax).map((text) => JSON.stringify(text));
  const more = found.length > shownMax ? `, and ${found.length - shownMax} more` : '';
  return [
    `whether rows of ${shownName(column)} are totals or results of others, and would count twice: then write beside "files" where: { ${JSON.stringify(column.ref)}: { not: [ ${listed.join(', ')} ] } }${more}`,
  ];
}
