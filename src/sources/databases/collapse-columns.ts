/**
 * What SQL makes of the values and times of a query. Typed columns are judged as they are; texts are looked at in steps of
 * their own, because looking at one costs more than all else.
 */
import { yearMax, yearMin } from '../../core/time/month.ts';
import { type Dialect, type SqlColumn, type Years, always, amountDigits, decimalDigits, everyYear } from './dialect.ts';
import { type Zones, monthRanges, oddMark } from './month-ranges.ts';

/** Of `2026-01-31 23:00:00`. */
const secondLength = 19;

/** What a reading adds to the steps of the statement: fields, by the names that later steps know them by. */
export interface Fields {
  /** Over the rows of the query. */
  readonly texts: readonly Field[];
  /** Over those texts. */
  readonly facts: readonly Field[];
}

/** A name, and the SQL that it stands for. */
export type Field = readonly [name: string, sql: string];

/** SQL over the columns of the query and the fields. A condition may come out NULL, which counts as false. */
export interface ValueSql extends Fields {
  /** Of kind `text` where its text is looked at. */
  readonly column: SqlColumn;
  /** '' for NULL. */
  readonly text: string;
  /** A number's is no longer than this many characters. */
  readonly textMax: number;
  readonly isThere: string;
  readonly isNumber: string;
  /** What is ranked and summed; NULL where there is no number. */
  readonly amount: string;
  /** Digits after its point, where a sum does not show them. */
  readonly scale: string | undefined;
}

export interface TimeSql extends Fields {
  /** The column, where it holds times and nothing else. */
  readonly typed: SqlColumn | undefined;
  /** As it is sorted, from the year 1000 to 9999. */
  readonly sorted: string;
  /** No longer than this many characters. */
  readonly sortedMax: number;
  /** Whether it is a time that the database reads as the agent does. */
  readonly isTime: string;
  /** Whether it is of these years, if it is a time. */
  readonly isOfYears: (years: Years) => string;
  /** The same for two times only if they are of one month. */
  readonly month: string;
}

/** @param missing texts of values that mean "no value" */
export function valueSql(
  dialect: Dialect,
  column: SqlColumn,
  { at, missing }: { readonly at: number; readonly missing: readonly string[] },
): ValueSql {
  const { bytes, literal } = dialect;
  const text = dialect.text(column);
  if (isTypedNumber(column) && missing.includes('') && missing.every((of) => of === '' || !mayBeNumber.test(of))) {
    const isNumber = dialect.isNumber(column, text);
    const amount = dialect.amount(column, text);
    const digits = decimalDigits(column.type);
    return {
      column,
      texts: [],
      facts: [],
      text,
      textMax: digits === undefined ? numberMax : digits.all + signsMax,
      isThere: `${column.name} IS NOT NULL`,
      isNumber,
      amount: isNumber === always ? amount : `CASE WHEN ${isNumber} THEN ${amount} END`,
      scale: dialect.scale(column, text),
    };
  }
  // Whatever its type: NULL is a text here, and no number.
  const asText: SqlColumn = { ...column, kind: 'text', type: '' };
  const [value, there, number] = [`v${at}`, `h${at}`, `n${at}`];
  const isThere = missing.length === 0 ? always : `${bytes(value)} NOT IN (${missing.map(literal).join(', ')})`;
  return {
    column: asText,
    texts: [[value, text]],
    facts: [
      [there, flag(isThere)],
      [number, flag(dialect.isNumber(asText, value))],
    ],
    text: value,
    textMax: numberMax,
    isThere: `${there} = 1`,
    isNumber: `${number} = 1`,
    amount: `CASE WHEN ${there} = 1 AND ${number} = 1 THEN ${dialect.amount(asText, value)} END`,
    scale: dialect.scale(asText, value),
  };
}

/** A sign, a point and the zero before it. */
const signsMax = 3;
const numberMax = 2 * amountDigits + 2;

/** What a number could be written as, NaN and infinities among it. */
const mayBeNumber = /^[-+.\dNIi]/;

function isTypedNumber({ kind }: SqlColumn): boolean {
  return kind === 'integer' || kind === 'decimal';
}

export function timeSql(dialect: Dialect, column: SqlColumn, zones: Zones): TimeSql {
  const { kind } = column;
  if (kind === 'date' || kind === 'wall' || kind === 'instant') {
    const sorted = dialect.text(column);
    const isOfYears = dialect.isOfYears(column, everyYear);
    return {
      texts: [],
      facts: [],
      typed: column,
      sorted,
      // 2026-01-31 23:00:00.123456789+00:00
      sortedMax: kind === 'date' ? 10 : 35,
      isOfYears: (years) => dialect.isOfYears(column, years),
      isTime: dialect.isDay === undefined ? isOfYears : all([isOfYears, dialect.isDay(column)]),
      // What is no time in text is none in a typed column.
      month: dialect.month(
        monthRanges(kind, zones).filter(({ from }) => from !== oddMark),
        column,
        sorted,
      ),
    };
  }
  return {
    texts: [['t', dialect.text(column)]],
    facts: [['s', dialect.line([sortedTime(dialect, zones)], textTimeMax)]],
    typed: undefined,
    sorted: 's',
    sortedMax: textTimeMax,
    isTime: "s <> ''",
    isOfYears: ({ first, last }) =>
      first === yearMin && last === yearMax ? "s <> ''" : `(s > '${first}' AND s < '${last + 1}')`,
    month: textMonth(dialect, column, zones),
  };
}

/** Of a text that is sorted as a time: `moment` is the longest form. */
const textTimeMax = 48;

/** The text `t` as it is sorted, '' where it is no time. */
function sortedTime({ is, concat }: Dialect, { source, agent }: Zones): string {
  // Where they are of one zone, a day is its midnight, so that it ties with a date-time that says so.
  const isOneZone = source === agent;
  const midnight = isOneZone ? ' 00:00:00' : '';
  // Nine digits of each fraction, so that they are ordered as texts.
  const digits = concat("replace(replace(t, 'T', ' '), 'Z', '')", "'000000000'");
  const fine = `substr(${digits}, 1, ${secondLength + 10})`;
  const cases = [
    `WHEN ${is('day', 't')} THEN ${isOneZone ? concat('t', `'${midnight}'`) : 't'}`,
    `WHEN ${is('month', 't')} THEN ${concat('t', `'-01${midnight}'`)}`,
    ...(isOneZone
      ? [
          `WHEN ${is('second', 't')} THEN replace(t, 'T', ' ')`,
          `WHEN ${is('minute', 't')} THEN ${concat("replace(t, 'T', ' ')", "':00'")}`,
          `WHEN ${is('fraction', 't')} THEN ${fine}`,
        ]
      : []),
    `WHEN ${is('zuluSecond', 't')} THEN replace(t, 'T', ' ')`,
    `WHEN ${is('zuluFraction', 't')} THEN ${concat(fine, "'Z'")}`,
    `WHEN ${is('moment', 't')} THEN ${concat(`'${oddMark}'`, 't')}`,
  ];
  return `CASE ${cases.join(' ')} ELSE '' END`;
}

/** The month of `s`. Texts with a zone or a fraction, which no text without one is ordered with, have months of their own. */
function textMonth({ concat, month }: Dialect, column: SqlColumn, zones: Zones): string {
  const ranges = monthRanges(zones.source === zones.agent ? 'wall' : 'date', zones);
  const text: SqlColumn = { ...column, kind: 'text' };
  const [after, end] = [secondLength + 1, secondLength + 11].map((at) => `substr(s, ${at}, 1)`) as [string, string];
  const second = `substr(s, 1, ${secondLength})`;
  const zulu = month(monthRanges('instant', zones), text, second);
  const fraction = month(ranges, text, second);
  return `CASE WHEN ${after} IN ('Z', '.') AND s < '${oddMark}' THEN ${concat(after, end, `CASE WHEN ${after} = 'Z' OR ${end} = 'Z' THEN ${zulu} ELSE ${fraction} END`)} ELSE ${month(ranges, text, 's')} END`;
}

export function all(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' AND ');
}

/** 1 where the condition holds, 0 where it does not or is NULL. */
export function flag(condition: string): string {
  return `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
}
