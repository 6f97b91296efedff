/** Amounts of bytes as a person writes them: `500B`, `10kB`, `4GB`, `512MiB`. */

const units: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bytes of a whole number with its unit; `undefined` for any other text. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+) ?([a-z]+)$/i.exec(text.trim()) ?? [];
  const bytes = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** `1.5 kB`, `250 MB`. */
export function showBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const shown = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 'B';
  for (const next of shown) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}
