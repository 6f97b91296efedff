/** Lengths of time as a person writes them: `500ms`, `30s`, `5m`, `20h`, `400d`. */

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years. Added to any present moment it still gives a date. */
export const durationMaxDays = 36_525;
const durationMaxMs = durationMaxDays * 86_400_000;

/** Milliseconds of a whole number with its unit, at most a hundred years; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const ms = Number(digits) * (unitsMs[unit] as number);
  return ms <= durationMaxMs ? ms : undefined;
}
