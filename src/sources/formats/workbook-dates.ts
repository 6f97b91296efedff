/** Which numbers of a workbook are dates, as their cells' number formats say, and the ISO text of those. */
import type { DateSystem } from '../../core/model.ts';
import { dateText, timeText } from './iso-text.ts';

/** Which parts of a moment a number format shows. */
export interface DateShape {
  readonly hasDate: boolean;
  readonly hasTime: boolean;
  /** Hours above 24 are shown as such (`[h]:mm`): a duration. */
  readonly isElapsed: boolean;
}

const dayMs = 86_400_000;
/** 9999-12-31 in the system of 1900: Excel shows no date after it. */
const serialMax = 2_958_465;

/** Formats that files name by number alone (ECMA-376 part 1, 18.8.30; those of the Far East as in Japan and China). */
const builtIn: Readonly<Record<number, string>> = {
  ...numbered([14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58, 71, 72, 73, 74], 'yyyy-mm-dd'),
  ...numbered([18, 19, 20, 21, 32, 33, 45, 47, 75, 76, 78, 80], 'h:mm:ss'),
  ...numbered([22, 77], 'yyyy-mm-dd h:mm'),
  ...numbered([46, 79], '[h]:mm:ss'),
};

function numbered(ids: readonly number[], code: string): Record<number, string> {
  return Object.fromEntries(ids.map((id) => [id, code]));
}

/** @param code of the file's own formats, where it has one of that number */
export function dateShape(id: number, code: string | undefined): DateShape | undefined {
  return parseShape(code ?? builtIn[id] ?? '');
}

/** `undefined` for a format of plain numbers. */
function parseShape(code: string): DateShape | undefined {
  // Excel takes no longer one, and the patterns below take the square of its length where brackets stay open.
  if (code.length > 255) return undefined;
  // Texts in quotes, escaped characters and those that only take room say nothing; neither do colours and languages.
  const plain = code
    .replaceAll(/"[^"]*"?|[\\_*]./gs, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .split(';', 1)[0]
    ?.toLowerCase()
    .replaceAll(/general|am\/pm|a\/p|上午\/下午/g, (word) => (word.includes('/') ? 'h' : '0'));
  // A fraction is of seconds, any other digit is of a number.
  const letters = plain?.replaceAll(/s\]?[.,]0+/g, 's') ?? '';
  if (/[0#?]/.test(letters)) return undefined;
  const tokens = letters.match(/\[?([a-z])\1*\]?/g) ?? [];
  if (tokens.length === 0 || !tokens.every((token) => /[ymdhsegba]/.test(token))) return undefined;
  const timeTokens = tokens.filter((token, at) => isTimeToken(token, tokens[at - 1], tokens[at + 1])).length;
  return {
    hasDate: timeTokens < tokens.length,
    hasTime: timeTokens > 0,
    isElapsed: tokens.some((token) => token.startsWith('[')),
  };
}

/** `m` is minutes after hours or before seconds, else the month. */
function isTimeToken(token: string, before = '', after = ''): boolean {
  if (/[hs]/.test(token) || token.startsWith('[')) return true;
  return /^mm?$/.test(token) && (before.includes('h') || after.includes('s'));
}

/**
 * The text of a serial day, or `undefined` where Excel shows no date. The format decides which parts are shown,
 * but nothing is lost: a date with a time of day under a format of dates alone keeps its time.
 */
export function serialText(serial: number, shape: DateShape, system: DateSystem): string | undefined {
  if (!(serial >= 0 && serial < serialMax + 1)) return undefined;
  // Excel rounds to milliseconds too: the digits of a file are some microseconds off.
  const totalMs = Math.round(serial * dayMs);
  const day = Math.floor(totalMs / dayMs);
  const ofDayMs = BigInt(totalMs % dayMs);
  if (shape.isElapsed && !shape.hasDate) return timeText(BigInt(totalMs), 1000n);
  if (!shape.hasDate && day === 0) return timeText(ofDayMs, 1000n);
  const date = serialDate(day, system);
  return shape.hasDate && !shape.hasTime && ofDayMs === 0n ? date : `${date}T${timeText(ofDayMs, 1000n)}`;
}

/** Excel's calendar of 1900 has a 29 February, and begins with a day 0: neither is a date, and so the row is a reject. */
function serialDate(day: number, system: DateSystem): string {
  if (system === 1904) return dateText(day - 24_107);
  if (day === 0) return '1900-01-00';
  if (day === 60) return '1900-02-29';
  return dateText(day - (day < 60 ? 25_568 : 25_569));
}
