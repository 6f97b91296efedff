/** Entries of `drivers:`. */
import { parseDecimal, plainDecimal } from '../core/numbers/decimal.ts';
import type { DriverEntry } from '../core/settings.ts';
import { type Template, literalText, parseTemplate, templateMaps } from '../core/mapping/template.ts';
import { quote } from '../core/text.ts';
import type { FiscalYear, TimeFormat } from '../core/time/time-format.ts';
import { compileTimeReader, formatMonths, formatNames, timeFormatProblem } from '../core/time/time.ts';
import type { WrittenDriver } from '../sources/kind.ts';
import type { Written } from './document.ts';
import { reportMissing, reportType } from './fields.ts';
import { namesHint, nearest } from '../core/nearest.ts';
import { type Cursor, isExcused, isMapping, keysAt, spotOf, spotsIn, within, writtenAt } from './cursor.ts';
import { type Fields, type Shape, type Whole, readFields, readValue } from './fields.ts';
import { driverShape, timeShape, valueShape } from './source-keys.ts';
import { sameMark, template } from './scalars.ts';

interface Surroundings {
  /** What the source's fiscal formats count from. */
  readonly fiscalYear: FiscalYear | undefined;
  /** Whether a calendar may name its periods. */
  readonly hasCalendar: boolean;
  /** The entries of its kind, for a source that writes none. */
  readonly defaults: readonly WrittenDriver[] | undefined;
}

/** @param cursor of the source */
export function readDrivers(cursor: Cursor, surroundings: Surroundings): readonly DriverEntry[] {
  const at = within(cursor, 'drivers');
  const written = writtenAt(at);
  if (!keysAt(cursor).includes('drivers')) {
    const { defaults } = surroundings;
    if (defaults !== undefined) return defaults.map(defaultEntry);
    reportMissing(at);
  }
  if (Array.isArray(written) && written.length === 0) at.report({ path: at.path, message: 'the list is empty' });
  else if (written !== undefined && !Array.isArray(written)) reportType(at, 'a list', written);
  if (!Array.isArray(written)) return [];
  const entries = written.flatMap((_, index) => readDriver(within(at, index), surroundings) ?? []);
  reportUnknownMaps(cursor, at, written);
  return entries;
}

function defaultEntry({ id, path, time, value, collapse }: WrittenDriver): DriverEntry {
  return {
    id: template.parse(id),
    path: path.map((element) => template.parse(element)),
    time: {
      from: template.parse(time),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: template.parse(value), format: plainDecimal },
    spread: undefined,
    rule: collapse,
  };
}

function readDriver(cursor: Cursor, { fiscalYear, hasCalendar }: Surroundings): DriverEntry | undefined {
  const fields = readFields(cursor, driverShape, ['time', 'value']) as Whole<typeof driverShape>;
  if (!isMapping(writtenAt(cursor))) return undefined;
  const { id, path, spread, collapse } = fields;
  const isSpread = keysAt(cursor).includes('spread');
  const time = readTime(within(cursor, 'time'), { fiscalYear, hasCalendar, isSpread });
  return { id, path, time, value: readNumber(within(cursor, 'value')), spread, rule: collapse };
}

/** Stands in for a template that was wrong and reported. */
const nothing: Template = { text: '', pieces: [] };

/** Reads `time` or `value`: a template, or a mapping of its parts. */
function readForm<S extends Shape>(cursor: Cursor, shape: S): Fields<S> {
  const written = writtenAt(cursor);
  if (isMapping(written)) return readFields(cursor, shape);
  if (spotOf(cursor) === undefined)
    reportMissing(cursor, `{${String(cursor.path.at(-1)) === 'time' ? 'date' : 'amount'}}`);
  const from = readValue(cursor, template, written);
  return readDefaults(shape, from?.value);
}

function readDefaults<S extends Shape>(shape: S, from: Template | undefined): Fields<S> {
  const defaults = Object.entries(shape).flatMap(([key, schema]) => {
    const result = schema.safeParse(undefined);
    return result.success ? [[key, result.data] as const] : [];
  });
  return { ...Object.fromEntries(defaults), ...(from === undefined ? {} : { from }) } as Fields<S>;
}

function readTime(
  cursor: Cursor,
  { fiscalYear, hasCalendar, isSpread }: Pick<Surroundings, 'fiscalYear' | 'hasCalendar'> & { isSpread: boolean },
): { readonly from: Template; readonly format: TimeFormat } {
  const { from = nothing, format = ['iso'], locale, timezone } = readForm(cursor, timeShape);
  const time = { formats: format, locales: locale ?? ['en'], timezone, fiscalYear };
  const literal = literalText(from);
  if (literal !== undefined && timeFormatProblem(time) === undefined) {
    // A calendar may name this period, but its file is only read with the source.
    const isTime = typeof compileTimeReader(time, 'UTC', undefined)(literal) !== 'string';
    if (!isTime && !hasCalendar) reportLiteral(cursor, literal, 'not a time');
  }
  const at = within(cursor, 'format');
  // Without a readable locale the format cannot be judged.
  const isJudged =
    locale !== undefined && spotOf(at) !== undefined && !spotsIn(at.document.spots, at.path).some(({ unset }) => unset);
  const problem = isJudged ? timeFormatProblem(time) : undefined;
  if (problem !== undefined) {
    const near = format.flatMap((name) =>
      formatNames().includes(name) ? [] : (nearest(name, formatNames()) ?? []),
    )[0];
    const hint = near === undefined ? {} : { hint: `did you mean "${near}"?` };
    at.report({ path: at.path, message: 'no month can be read by it', detail: `: ${problem}`, ...hint });
  } else if (isJudged && !isSpread && formatMonths(time) > 1) {
    const names =
      formatMonths(time) === 3 ? 'quarters, and a quarter is three months' : 'years, and a year is twelve months';
    const hint = 'say what becomes of a value: spread: repeat, first, last or divide, beside time';
    at.report({ path: at.path, message: `the format names ${names}`, hint });
  }
  return { from, format: time };
}

function readNumber(cursor: Cursor): DriverEntry['value'] {
  const { from = nothing, decimal, group, accounting, scale, negate, round } = readForm(cursor, valueShape);
  if (decimal !== undefined && group !== undefined && sameMark(decimal, group.mark)) {
    const at = within(cursor, 'group');
    const hint =
      spotOf(within(cursor, 'decimal')) === undefined
        ? { hint: 'say which mark is the decimal one: decimal: ","' }
        : {};
    at.report({ path: at.path, message: 'the group mark is the decimal mark too', ...hint });
  }
  const format = {
    decimal: decimal ?? '.',
    group,
    accounting: accounting ?? false,
    scale,
    negate: negate ?? false,
    round,
  };
  const literal = literalText(from);
  if (literal !== undefined && parseDecimal(literal, format) === undefined) {
    reportLiteral(cursor, literal, 'not a number');
  }
  return { from, format };
}

/** `value: amount` is the text "amount" in every row; `value: "1"` is a number, and may be meant. */
function reportLiteral(form: Cursor, literal: string, fault: string): void {
  const cursor = isMapping(writtenAt(form)) ? within(form, 'from') : form;
  if (isExcused(cursor)) return;
  const bare = literal.replaceAll(/[{}]/g, '').trim();
  cursor.report({
    path: cursor.path,
    message: `a text that names no column, and is ${fault}`,
    detail: `: ${quote(literal)}`,
    hint: `if ${quote(bare)} is a column: write ${JSON.stringify(`{${bare}}`)}`,
  });
}

/** A filter with an unknown map would make every text empty and so reject every row. */
function reportUnknownMaps(source: Cursor, cursor: Cursor, written: Written): void {
  if (typeof written === 'string') {
    const parsed = parseTemplate(written);
    const names = keysAt(within(source, 'maps'));
    const maps = 'template' in parsed ? templateMaps(parsed.template) : [];
    for (const map of maps) {
      if (names.includes(map) || spotOf(cursor)?.unset === true) continue;
      const hint = namesHint(map, names, 'this source has no maps');
      cursor.report({ path: cursor.path, message: 'unknown map', detail: ` ${JSON.stringify(map)}`, hint });
    }
  } else if (typeof written === 'object' && written !== null) {
    for (const [step, inner] of Object.entries(written)) {
      reportUnknownMaps(source, within(cursor, Array.isArray(written) ? Number(step) : step), inner);
    }
  }
}
