/** Days and ticks of binary formats as ISO 8601 text. Pure arithmetic in UTC: the process's zone never comes in. */

const dayMs = 86_400_000;
/** A Date covers ±270 000 years, far more than any business needs. */
const daysMax = 1e8;

/** `2024-01-31` of whole days since 1970-01-01; `+012024-01-31` and the like outside the years 0 to 9999. */
export function dateText(days: number): string {
  if (Math.abs(days) > daysMax) return `${days} days after 1970`;
  return new Date(days * dayMs).toISOString().slice(0, -'T00:00:00.000Z'.length);
}

/** `10:15:00`, and a fraction only as long as it says something. `ticks` since midnight, `perSecond` a power of ten. */
export function timeText(ticks: bigint, perSecond: bigint): string {
  const seconds = ticks / perSecond;
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, '0'));
  const fraction = ticks % perSecond;
  if (fraction === 0n) return clock.join(':');
  const digits = String(perSecond).length - 1;
  return `${clock.join(':')}.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`;
}

/** `2024-01-31T10:15:00` of ticks since 1970-01-01T00:00, with a fraction as `timeText`. */
export function momentText(ticks: bigint, perSecond: bigint): string {
  const perDay = 86_400n * perSecond;
  const rest = ticks % perDay;
  // BigInt division goes towards zero; the days before 1970 begin at their midnight too.
  const ofDay = rest < 0n ? rest + perDay : rest;
  return `${dateText(Number((ticks - ofDay) / perDay))}T${timeText(ofDay, perSecond)}`;
}
