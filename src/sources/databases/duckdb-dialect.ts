/** Collapsing in DuckDB. */
import {
  type ColumnKind,
  type Dialect,
  type NumberSql,
  type TextSql,
  type TimeSql,
  always,
  countedByWindow,
  decimalDigits,
  everyYear,
  isShortDecimal,
  numberMax,
  quoted,
  whiteSpace,
  wholeDigits,
} from './dialect.ts';

const kinds: Readonly<Record<string, ColumnKind>> = {
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  HUGEINT: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'integer',
  UBIGINT: 'integer',
  UHUGEINT: 'integer',
  DATE: 'date',
  TIMESTAMP: 'wall',
  TIMESTAMP_S: 'wall',
  TIMESTAMP_MS: 'wall',
  TIMESTAMP_NS: 'wall',
  'TIMESTAMP WITH TIME ZONE': 'instant',
};

/** Digits of numbers that a table of any size can sum within the 38 digits of a sum. */
const summableMax = 26;

function isSummable(type: string): boolean {
  const digits = decimalDigits(type);
  if (digits === undefined || digits.scale > wholeDigits) return false;
  return Math.min(digits.all, wholeDigits + digits.scale) <= summableMax;
}

/** Those of `duckdbText`, which the plain read selects too. */
const texts: TextSql = {
  // A column keeps a collation of its own through casts.
  of: ({ name, type }) => `coalesce(CAST(${duckdbText(name, type)} AS VARCHAR), '') COLLATE "binary"`,
  leave: ({ name, type }) => duckdbText(name, type),
  bytes: (text) => text,
  literal: quoted,
  concat: (...parts) => parts.join(' || '),
  line: (parts) => parts.join(' || '),
  isBlank: (text) => `trim(${text}, ${quoted(whiteSpace)}) = ''`,
  firstCode: (column) => `ascii(${texts.of(column)})`,
};

const numbers: NumberSql = {
  text: (number) => `CAST(${number} AS VARCHAR)`,
  isShort({ name, kind, type }) {
    if (kind === 'decimal' && isShortDecimal(type, wholeDigits)) return always;
    // A number without a sign would be cast to compare it with one that has one, which the largest cannot be.
    return type.startsWith('U') ? `${name} <= ${numberMax}` : `${name} BETWEEN -${numberMax} AND ${numberMax}`;
  },
  rank: (number, sign) =>
    `CAST(CAST(3000000000000000000 AS DECIMAL(38, 18)) ${sign} CAST(${number} AS DECIMAL(38, 18)) AS VARCHAR)`,
  rankLength: 38,
};

const times: TimeSql = {
  // By the year alone: some types of time cannot be compared with every date. An infinite time has no year.
  isOfYears: ({ name }, { first, last }) => `year(${name}) BETWEEN ${first} AND ${last}`,
  month: ({ name }, seconds) => `date_trunc('month', CAST(${name} AS TIMESTAMP) + INTERVAL (${seconds}) SECOND)`,
  day: ({ name }) => `CAST(CAST(${name} AS TIMESTAMP) AS DATE)`,
  daysSinceEpoch: (column) =>
    `CASE WHEN ${times.isOfYears(column, everyYear)} THEN date_diff('day', DATE '1970-01-01', ${column.name}) END`,
};

export const duckdbDialect: Dialect = {
  syntax: 'standard',
  types: {
    kindOf: (type) => (isSummable(type) ? 'decimal' : (kinds[type] ?? 'other')),
    numberCast: (name) => `${name}::DECIMAL(18, 2)`,
    timeCast: (name) => `${name}::DATE`,
  },
  queries: { ordered: (query) => query, counted: countedByWindow, once: '' },
  texts,
  numbers,
  times,
  groups: { some: ({ name }) => `max(${name})`, unique: 'CAST(uuid() AS VARCHAR)' },
};

/**
 * A column as text: numbers with all their digits (a double is its shortest, spelled as JavaScript does, since from sqlite, parquet
 * and xlsx it comes so), times as ISO 8601 writes them, nested values as JSON. NULL stays NULL.
 */
export function duckdbText(name: string, type: string): string {
  if (type === 'VARCHAR') return name;
  if (type === 'FLOAT' || type === 'DOUBLE') return binaryText(name, type);
  return `CAST(${nested.test(type) ? `to_json(${name})` : name} AS VARCHAR)`;
}

/**
 * In SQL, since with pushdown conditions are judged by it too. DuckDB writes 7 as 7.0, and an exponent of two digits from 1e16 on and below
 * 1e-4. Nearly all values are made a text once, by one of the first two branches.
 */
function binaryText(name: string, type: 'FLOAT' | 'DOUBLE'): string {
  const text = `CAST(${name} AS VARCHAR)`;
  const sign = `CASE WHEN ${name} < 0 THEN '-' ELSE '' END`;
  const digits = `replace(ltrim(split_part(${text}, 'e', 1), '-'), '.', '')`;
  // Below it the shortest text of a whole number has all its digits.
  const wholeMax = type === 'FLOAT' ? '16777216' : '1e15';
  return `CASE WHEN ${name} = trunc(${name}) AND abs(${name}) < ${wholeMax} THEN CAST(CAST(${name} AS BIGINT) AS VARCHAR)
    WHEN abs(${name}) >= 1e-4 AND abs(${name}) < ${wholeMax} THEN ${text}
    WHEN ends_with(${text}, '.0') THEN left(${text}, -2)
    WHEN ends_with(${text}, 'e-05') THEN ${sign} || '0.0000' || ${digits}
    WHEN ends_with(${text}, 'e-06') THEN ${sign} || '0.00000' || ${digits}
    WHEN regexp_matches(${text}, 'e[+](1[6-9]|20)$') THEN ${sign} || rpad(${digits}, CAST(right(${text}, 2) AS INTEGER) + 1, '0')
    ELSE replace(${text}, 'e-0', 'e-') END`;
}

const nested = /\[\d*\]$|^(?:STRUCT|MAP|UNION)\(/;

/** Whether the text of such a column has no bound of its own. */
export function mayBeLong(type: string): boolean {
  return !/^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(.*\)|FLOAT|DOUBLE|BOOLEAN|DATE|TIME.*|INTERVAL|UUID)$/.test(
    type,
  );
}
