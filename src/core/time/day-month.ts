/** Formats whose day and month can be taken for each other: `MM/dd/yyyy` and `dd/MM/yyyy`. */

/**
 * A format with day and month exchanged; `undefined` where it has no such pair of numbers, or begins with the year: nobody
 * writes the day before the month then.
 */
export function exchangedFormat(format: string): string | undefined {
  const pieces: readonly string[] = format.match(/([A-Za-z])\1*|''|'(?:''|[^'])+(?:'|$)|[^]/g) ?? [];
  const [day, month, year] = [/^d{1,2}$/, /^[ML]{1,2}$/, /^[yu]+$/].map((token) =>
    pieces.findIndex((piece) => token.test(piece)),
  ) as [number, number, number];
  if (day < 0 || month < 0 || (year >= 0 && year < Math.min(day, month))) return undefined;
  return pieces
    .with(day, pieces[month] as string)
    .with(month, pieces[day] as string)
    .join('');
}
