/** Collapsing in MySQL and MariaDB. */
import { AgentError } from '../../core/errors.ts';
import {
  type ColumnKind,
  type Dialect,
  type GroupSql,
  type NumberSql,
  type QuerySql,
  type TextSql,
  type TimeSql,
  always,
  decimalDigits,
  isShortDecimal,
  numberMax,
  whiteSpace,
  wordOf,
} from './dialect.ts';
import { outermostWords, tokensOf } from './query-words.ts';

const kinds: Readonly<Record<string, ColumnKind>> = {
  TINY: 'integer',
  SHORT: 'integer',
  INT24: 'integer',
  LONG: 'integer',
  LONGLONG: 'integer',
  NEWDECIMAL: 'decimal',
  DATE: 'date',
  DATETIME: 'wall',
  TIMESTAMP: 'instant',
};

/** The LIMIT that leaves nothing out. */
const allRows = '18446744073709551615';

/** Sorting looks at no more bytes of a text than this by default (`max_sort_length`): longer keys would run together. */
const keyBytesMax = 800;

/** Longest text of a number or a time. */
const numberBytesMax = 100;

/** Longest text of a column of type `VAR_STRING(136)`, for example. */
function textBytes(type: string): number {
  return Number(/^(?:VAR_STRING|STRING)\((\d+)\)$/.exec(type)?.[1] ?? Infinity);
}

/** Most digits after the point that every server has. */
const scaleMax = 30;

/** `TO_DAYS('1970-01-01')` */
const epochDay = 719_528;

/** No DATE is of a later year. */
const lastDateYear = 9999;

const queries: QuerySql = {
  // MariaDB forgets an ORDER BY inside another query, unless it has a LIMIT. A LIMIT writes all rows down once. Behind brackets it
  // keeps the order of what is in them.
  ordered(query) {
    refuseLocks(query);
    const words = outermostWords(query, 'mysql');
    if (!words.has('order')) return query;
    const limited = words.has('limit') || words.has('fetch') ? query : `${query}\nLIMIT ${allRows}`;
    // It would look among the names of the outer query for those that a union is ordered by.
    const isCombined = ['union', 'except', 'intersect'].some((word) => words.has(word));
    return isCombined ? `SELECT * FROM (\n${limited}\n) AS driver_sync` : limited;
  },
  // MariaDB's row_number() OVER () goes by no order that the rows had.
  counted: (table) => ({
    field: '(@driver_sync_place := CAST(@driver_sync_place AS SIGNED) + 1)',
    from: `(SELECT @driver_sync_place := 0) AS nothing STRAIGHT_JOIN ${table}`,
  }),
  once: '',
};

/** They cannot stand within another query. @throws AgentError `part.unreadable` */
function refuseLocks(query: string): void {
  const words = tokensOf(query, 'mysql')
    .map(({ text }) => (/^\w+$/.test(text) ? text.toUpperCase() : '.'))
    .join('\n');
  const [lock] = /^(?:FOR\nSHARE|LOCK\nIN\nSHARE\nMODE)$/m.exec(words) ?? [];
  if (lock === undefined) return;
  throw new AgentError('part.unreadable', 'the query locks rows, which cannot be pushed down', {
    hint: `leave ${lock.replaceAll('\n', ' ')} out of the query: a read sees one state of the database without it`,
  });
}

const texts: TextSql = {
  of({ name, kind }) {
    const text = `CONVERT(${name} USING utf8mb4) COLLATE utf8mb4_bin`;
    if (kind !== 'instant') return `coalesce(${text}, '')`;
    // As the plain read has it: UTC, and a zero date is no instant.
    return `CASE WHEN ${name} > 0 THEN CONCAT(${text}, '+00:00') ELSE coalesce(${text}, '') END`;
  },
  leave: (column) => texts.of(column),
  bytes: (text) => `CAST(${text} AS BINARY)`,
  // As bytes, so that no sql_mode decides what a backslash is.
  literal: (text) => `X'${Buffer.from(text).toString('hex')}'`,
  concat: (...parts) => `CONCAT(${parts.join(', ')})`,
  line: (parts, length) => `CAST(CONCAT(${parts.join(', ')}) AS CHAR(${length}) CHARACTER SET ascii) COLLATE ascii_bin`,
  isBlank: (text) =>
    `CONVERT(${text} USING utf8mb4) REGEXP CONVERT(${texts.literal(`^[${whiteSpace}]*\\z`)} USING utf8mb4)`,
  firstCode: ({ name }) => `ASCII(${name})`,
};

const numbers: NumberSql = {
  // Short, or groups would hold their texts as BLOBs, on disk.
  text: (number) => `CAST(${number} AS CHAR(64) CHARACTER SET ascii)`,
  isShort: ({ name, type }) =>
    isShortDecimal(type, scaleMax) ? always : `${name} BETWEEN -${numberMax} AND ${numberMax}`,
  rank: (number, sign) =>
    `CAST(CAST(3000000000000000000 ${sign} ${number} AS DECIMAL(49, ${scaleMax})) AS CHAR(50) CHARACTER SET ascii)`,
  rankLength: 50,
};

const times: TimeSql = {
  isOfYears({ name }, { first, last }) {
    const isEarly = last === lastDateYear ? '' : ` AND ${name} < '${last + 1}-01-01'`;
    // 2026-00-00 is a DATE too, and so may 2026-02-31 be, whose number is that of 2026-03-03.
    const day = `DAYOFMONTH(${name})`;
    const isDay = `(${day} BETWEEN 1 AND 28 OR DAYOFMONTH(FROM_DAYS(TO_DAYS(${name}))) = ${day})`;
    return `(${name} >= '${first}-01-01'${isEarly} AND MONTH(${name}) > 0 AND ${isDay})`;
  },
  month: ({ name }, seconds) =>
    `EXTRACT(YEAR_MONTH FROM ${seconds === 0 ? name : `${name} + INTERVAL ${seconds} SECOND`})`,
  day: ({ name }) => `DATE(${name})`,
  daysSinceEpoch: ({ name }) => `(TO_DAYS(${name}) - ${epochDay})`,
};

const groups: GroupSql = {
  // The session's sql_mode allows this: it is the value of any row.
  some: ({ name }) => name,
  unique: 'UUID_SHORT()',
  isKey(keys) {
    const longest = keys.map(({ column: { kind, type } }) => (kind === 'other' ? textBytes(type) : numberBytesMax));
    if (longest.reduce((sum, bytes) => sum + bytes, 0) <= keyBytesMax) return always;
    return `${keys.map(({ bytes }) => `LENGTH(${bytes})`).join(' + ')} <= ${keyBytesMax}`;
  },
};

export const mysqlDialect: Dialect = {
  syntax: 'mysql',
  types: {
    kindOf: (type) => ((decimalDigits(type)?.scale ?? 0) > scaleMax ? 'other' : (kinds[wordOf(type)] ?? 'other')),
    numberCast: (name) => `CAST(${name} AS DECIMAL(18, 2))`,
    timeCast: (name) => `CAST(${name} AS DATE)`,
  },
  queries,
  texts,
  numbers,
  times,
  groups,
};
