/** How tests write formats down and see moments. */
import type { Calendar } from '../../src/core/time/calendar.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { TimeFormat } from '../../src/core/time/time-format.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';

/** What a config without a word about times means. */
export const plainFormat: TimeFormat = {
  formats: ['iso'],
  locales: ['en'],
  timezone: undefined,
  fiscalYear: undefined,
};

export interface Reading extends Partial<TimeFormat> {
  /** The agent's zone, where it is not UTC. */
  readonly agent?: string;
  readonly calendar?: Calendar;
}

/** What a text is read as: its month (and how many, if several) and instant, or the reason why not. */
export function read(text: string, { agent = 'UTC', calendar, ...format }: Reading = {}): string {
  const moment = compileTimeReader({ ...plainFormat, ...format }, agent, calendar)(text);
  if (typeof moment === 'string') return moment;
  const instant = new Date(moment.seconds * 1000).toISOString().slice(0, 19);
  const fraction = moment.nanos === 0 ? '' : `.${String(moment.nanos).padStart(9, '0')}`;
  const span = moment.months === 1 ? '' : ` and ${moment.months - 1} more`;
  return `${formatMonth(moment.month)}${span} at ${instant}${fraction}`;
}
