/** "did you mean": the known word that a mistyped one is closest to. */

/** `undefined` where more than a third of the letters differ. Case, `-` and `_` do not count: `max_deletes` is `maxDeletes`. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const bare = (text: string): string => text.toLowerCase().replaceAll(/[-_ ]/g, '');
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(bare(word), bare(candidate));
    const isClose = distance <= Math.max(1, Math.floor(candidate.length / 3)) && distance < bare(candidate).length;
    if (isClose && (best === undefined || distance < best.distance)) best = { word: candidate, distance };
  }
  return best?.word;
}

/**
 * What to do about a name that nothing has.
 * @param none says so where nothing has any name
 */
export function namesHint(word: string, known: readonly string[], none = 'there are none yet'): string {
  const near = nearest(word, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? none : `there are ${known.join(', ')}`;
}

/** Letters to insert, remove, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(before, j - 2) + 1 : replaced;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
