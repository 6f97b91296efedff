/** The body of a push, read by code of the simulated world alone. */

/** By driver, then by month: the value's text. */
export type SentPoints = ReadonlyMap<string, ReadonlyMap<number, string>>;

interface Body {
  readonly shouldDeleteMissing: boolean;
  readonly extDrivers: readonly {
    readonly id: string;
    readonly timeSeries: readonly { readonly time: string; readonly value: string }[];
  }[];
}

export interface SentBody {
  readonly shouldDeleteMissing: boolean;
  readonly points: SentPoints;
}

export function readBody(text: string): SentBody {
  const { shouldDeleteMissing, extDrivers } = JSON.parse(text) as Body;
  const points = new Map(
    extDrivers.map(({ id, timeSeries }) => [id, new Map(timeSeries.map(({ time, value }) => [monthOf(time), value]))]),
  );
  return { shouldDeleteMissing, points };
}

/** Bodies repeat few times, in all histories. */
const knownMonths = new Map<string, number>();

function monthOf(time: string): number {
  let month = knownMonths.get(time);
  if (month === undefined) {
    const moment = new Date(Number(time) * 1000);
    month = moment.getUTCFullYear() * 12 + moment.getUTCMonth();
    knownMonths.set(time, month);
  }
  return month;
}

export function showMonth(month: number): string {
  return `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
}
