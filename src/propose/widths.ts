/** How many fields most rows have; of several such numbers the larger one. */
export function modalWidth(rows: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [best] = [...counts].toSorted(([a, ofA], [b, ofB]) => ofB - ofA || b - a);
  return best?.[0] ?? 0;
}
