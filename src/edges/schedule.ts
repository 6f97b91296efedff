/**
 * When a full snapshot is due: cron expressions of five fields, or six with seconds, in a zone.
 *
 * Daylight saving: a fixed time that does not exist in spring is due right after the clocks were put forward; one that comes
 * twice in autumn is due the first time. `*` fields follow local time.
 */
import { Cron } from 'croner';

/** The first due time after `after`. @throws where `scheduleProblem` names a problem: ask it first. */
export function nextDue(expression: string, timezone: string, after: Date): Date {
  const due = openCron(expression, timezone).nextRun(after);
  if (due === null) throw new RangeError(`the schedule ${JSON.stringify(expression)} is never due again`);
  return due;
}

/** The last due time before `before`; `undefined` where there was none. */
export function previousDue(expression: string, timezone: string, before: Date): Date | undefined {
  // croner drops milliseconds, and with them a time that was due within the present second.
  const fullSecond = new Date(Math.ceil(before.getTime() / 1000) * 1000);
  return openCron(expression, timezone).previousRuns(1, fullSecond)[0];
}

/** Why a schedule cannot be used, as one line for a person; `undefined` where it can. */
export function scheduleProblem(expression: string, timezone: string): string | undefined {
  const fields = expression.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6)
    return 'expected five fields (minute hour day month weekday), or six with seconds first';
  if (timezone !== utc && !isZone(timezone)) return `unknown time zone ${JSON.stringify(timezone)}`;
  try {
    // Every leap day falls on every weekday within 40 years, so any start will do.
    const due = openCron(expression, timezone).nextRun(new Date(0));
    return due === null ? 'no date ever matches it' : undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message.replace(/^CronPattern: |\.$/g, '').replace(/^Invalid/, 'invalid');
  }
}

/** The zone of a config that names none. */
const utc = 'UTC';

function openCron(expression: string, timezone: string): Cron {
  // Without an offset croner asks Intl also for UTC, which takes 8 MB of a daemon that waits.
  const zone = timezone === utc ? { utcOffset: 0 } : { timezone };
  return new Cron(expression, { ...zone, mode: '5-or-6-parts', paused: true });
}

function isZone(timezone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
