/** Fiscal years, their quarters and periods, as people and ledgers write them: `FY2025`, `FY25 Q1`, `Q3 2024`, `P07 FY2025`. */
import type { Month } from '../model.ts';
import { monthOf, stampSeconds } from './month.ts';
import type { FiscalYear, FormatReader, ReadTime } from './time-format.ts';

/** A calendar year as a fiscal one. */
const calendarYear: FiscalYear = { startsIn: 1, namedAfter: 'start' };

/** One year of four or two digits, or two consecutive years: `FY2025`, `25`, `'25`, `FY2024/25`, `2024-2025`. */
const year = "(?:FY ?)?['\u2019]?([0-9]{4}|[0-9]{2})(?: ?[/\u2013-] ?['\u2019]?([0-9]{4}|[0-9]{2}))?";
const between = '(?: ?[-\u2013/._,] ?| )?';
const quarter = '(?:Q(?:TR|UARTER)?\\.? ?([0-9])|([0-9]) ?Q(?:TR)?)';
// A digit after it is refused, since P12025 could be split in two ways.
const period = 'P(?:ER|ERIOD)?\\.? ?([0-9]{1,3})(?![0-9])';

const yearAlone = new RegExp(`^${year}$`);
const quarterFirst = new RegExp(`^${quarter}${between}${year}$`);
const quarterLast = new RegExp(`^${year}${between}${quarter}$`);
const periodFirst = new RegExp(`^${period}${between}${year}$`);
const periodLast = new RegExp(`^${year}${between}${period}$`);

/**
 * The reader of quarters, in any order and case: `FY25 Q1`, `Q1 FY2025`, `FY2025-Q1`, `2025 Q1`, `1Q25`, `FY2024/25 Q1`.
 * A year without FY is a fiscal year too.
 */
export function compileFiscalQuarter(fiscalYear: FiscalYear = calendarYear): FormatReader {
  return (text) => {
    const written = plain(text);
    const first = quarterFirst.exec(written);
    const last = first === null ? quarterLast.exec(written) : null;
    if (first === null && last === null) return 'it is not a quarter of a year such as FY2025 Q1 or Q1 FY25';
    const number = Number(first?.[1] ?? first?.[2] ?? last?.[3] ?? last?.[4]);
    if (number < 1 || number > 4) return `there is no quarter ${number}`;
    const start = firstMonth(fiscalYear, first?.[3] ?? last?.[1] ?? '', first?.[4] ?? last?.[2]);
    return typeof start === 'string' ? start : monthsFrom(start + (number - 1) * 3, 3);
  };
}

/** The reader of whole years: `FY2025`, `FY25`, `2025`, `FY2024/25`. */
export function compileFiscalYear(fiscalYear: FiscalYear = calendarYear): FormatReader {
  return (text) => {
    const match = yearAlone.exec(plain(text));
    if (match === null) return 'it is not a year such as FY2025, FY25 or FY2024/25';
    const start = firstMonth(fiscalYear, match[1] ?? '', match[2]);
    return typeof start === 'string' ? start : monthsFrom(start, 12);
  };
}

/** The reader of periods, which are months counted from the start of the year: `P07 FY2025`, `FY25 P7`, `2025-P07`. */
export function compileFiscalPeriod(fiscalYear: FiscalYear = calendarYear): FormatReader {
  return (text) => {
    const written = plain(text);
    const first = periodFirst.exec(written);
    const last = first === null ? periodLast.exec(written) : null;
    if (first === null && last === null) return 'it is not a period of a year such as FY2025 P07 or P7 FY25';
    const number = Number(first?.[1] ?? last?.[3]);
    if (number < 1) return 'there is no period 0; opening balances have no month, so leave them out with where';
    if (number > 12) {
      return `period ${number} is an adjustment period, which has no month of its own; leave it out with where or count it as P12 with maps`;
    }
    const start = firstMonth(fiscalYear, first?.[2] ?? last?.[1] ?? '', first?.[3] ?? last?.[2]);
    return typeof start === 'string' ? start : monthsFrom(start + number - 1, 1);
  };
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').toUpperCase();
}

/** @param second the other year of a name such as 2024/25, which tells by itself when the fiscal year starts */
function firstMonth({ startsIn, namedAfter }: FiscalYear, first: string, second: string | undefined): Month | string {
  const named = fullYear(first);
  if (second !== undefined) {
    const isNext = second.length === 4 ? Number(second) === named + 1 : Number(second) === (named + 1) % 100;
    if (!isNext) return `the years ${first} and ${second} do not follow each other`;
    if (startsIn === 1) return `a fiscal year that starts in January lies in one year, not in ${first} and ${second}`;
    return monthOf(named, startsIn);
  }
  return monthOf(namedAfter === 'end' && startsIn !== 1 ? named - 1 : named, startsIn);
}

/** Two digits mean what `yy` means: 1950 to 2049. */
function fullYear(digits: string): number {
  const number = Number(digits);
  if (digits.length === 4) return number;
  return number + (number < 50 ? 2000 : 1900);
}

function monthsFrom(month: Month, months: number): ReadTime {
  return { kind: 'months', seconds: stampSeconds(month, 'start'), nanos: 0, months };
}
