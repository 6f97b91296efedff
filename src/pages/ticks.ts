/** Labels of a chart's axes. */

export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Starts of months (UTC) from `min` to `max` in UNIX seconds, evenly spaced: at most `countMax`, which is 3 or more. */
export function monthTicks(min: number, max: number, countMax: number): Tick[] {
  const months = (max - min) / 2_629_746;
  const steps = [1, 2, 3, 6];
  for (let years = 1; years <= 1_000_000; years *= 10) steps.push(12 * years, 24 * years, 60 * years);
  const step = steps.find((size) => months / size <= countMax) ?? 12_000_000;
  const first = new Date(min * 1_000);
  const ticks: Tick[] = [];
  // `Date.UTC` takes the years 0 to 99 as 1900 to 1999.
  for (let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step; ; month += step) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
    const at = date.getTime() / 1_000;
    // NaN beyond the range of dates.
    if (!(at <= max)) return ticks;
    const label = date.toISOString().replace(/-\d\dT.*$/, '');
    if (at >= min) ticks.push({ at, label: step % 12 === 0 ? label.slice(0, -3) : label });
  }
}

/**
 * Range of the axis of values, with some room that does not reach beyond zero. Values that differ by less than a number can
 * represent well make a flat line.
 */
export function valueRange(min: number, max: number): [number, number] {
  const largest = Math.max(Math.abs(min), Math.abs(max)) || 1;
  const room = (max - min > largest / 1e10 ? max - min : largest) / 10;
  return [min >= 0 ? Math.max(0, min - room) : min - room, max <= 0 && min < 0 ? Math.min(0, max + room) : max + room];
}

/** About `countMax` round values from `min` to `max` at most; their labels are short for values of any size. */
export function valueTicks(min: number, max: number, countMax: number): Tick[] {
  const magnitude = Math.floor(Math.log10((max - min) / countMax));
  const steps = [1, 2, 5, 10].map((digit) => Number(`${digit}e${magnitude}`));
  const step = steps.find((size) => (max - min) / size <= countMax) ?? 0;
  if (!(step > 0)) return [];
  const exponent = Number(step.toExponential().split('e')[1]);
  const largest = Math.max(Math.abs(min), Math.abs(max));
  const isPlain = largest < 1e12 && exponent >= -6;
  const first = Math.ceil(min / step);
  const ticks: Tick[] = [];
  for (let index = 0; index <= Math.floor(max / step) - first; index += 1) {
    // Zero has no sign.
    const at = (first + index) * step || 0;
    const digits = Math.floor(Math.log10(Math.abs(at))) - exponent;
    const label = isPlain
      ? at.toFixed(Math.max(0, -exponent)).replace(/\B(?=(?:\d{3})+(?!\d)(?<!\.\d*))/g, '\u202F')
      : at.toExponential(Math.min(15, Math.max(0, at === 0 ? 0 : digits)));
    ticks.push({ at, label: label.replace('e+', 'e') });
  }
  return ticks;
}
