/** Points later than actual values can be. */
import type { RunSummary } from '../core/series/compare.ts';
import { formatMonth } from '../core/time/month.ts';
import { lastClosedMonth } from '../core/values/closed.ts';
import type { Dependencies } from './dependencies.ts';

/** For a source that says it holds actual values only: the month that is not closed yet may have some, later ones may not. */
export function forecastWarnings(
  { settings, clock }: Dependencies,
  source: string,
  { latest }: Pick<RunSummary, 'latest'>,
): readonly string[] {
  const { lastClose, timezone, sources } = settings;
  const closed = lastClosedMonth(lastClose, { nowMs: clock.now().getTime(), timezone });
  const isActual = sources.find(({ name }) => name === source)?.actuals === true;
  if (!isActual || closed === undefined || latest === undefined || latest.month <= closed + 1) return [];
  const { month, driver } = latest;
  return [
    `it has points up to ${formatMonth(month)} (driver "${driver}"), and ${formatMonth(closed)} is the last closed month: a forecast?`,
  ];
}
