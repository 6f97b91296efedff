/** The first days of months, by the times of readings: an export of the last so many days lacks those of its oldest month. */
import type { Moment, Month } from '../../core/model.ts';
import { daySeconds, formatMonth, stampSeconds } from '../../core/time/month.ts';

/** So many later months have to begin with their first days, or data may be too sparse to tell. */
const laterMin = 2;
/** Days of a month: wide enough for any zone, and for a month that begins with a Sunday. */
const lateDays = 4;
const earlyDays = 3;

export class FirstDays {
  /** By month, in UNIX seconds. */
  readonly #earliest = new Map<Month, number>();

  note({ month, months, seconds }: Moment): void {
    if (months === 1 && seconds < (this.#earliest.get(month) ?? Infinity)) this.#earliest.set(month, seconds);
  }

  /** All rows were noted. */
  warnings(): readonly string[] {
    const [oldest, ...later] = [...this.#earliest].sort(([one], [other]) => one - other);
    if (oldest === undefined || later.length < laterMin) return [];
    if (dayOf(oldest) < lateDays || later.some((one) => dayOf(one) > earlyDays)) return [];
    return [
      `the export seems to begin within ${formatMonth(oldest[0])}, of which it shows no first days, as it does of later months: let an export of the last so many days begin with the first day of a month, or that month becomes smaller with each read`,
    ];
  }
}

function dayOf([month, seconds]: readonly [Month, number]): number {
  return (seconds - stampSeconds(month, 'start')) / daySeconds;
}
