/** Collapsing in the servers: PostgreSQL, and MySQL with MariaDB. */
import {
  type ColumnKind,
  type Dialect,
  type SqlColumn,
  countedByWindow,
  formPatterns,
  quoted,
  searchMonth,
  unlessInMiddle,
} from './dialect.ts';
import { type MonthRange, oddMark } from './month-ranges.ts';
import { outermostWords } from './query-words.ts';

/** The largest integer of 18 digits. */
const edge = '999999999999999999';

const postgresKinds: Readonly<Record<string, ColumnKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  date: 'date',
  timestamp: 'wall',
  timestamptz: 'instant',
};

const postgresLiteral = (text: string): string => `${quoted(text)} COLLATE "C"`;

export const postgresDialect: Dialect = {
  kindOf: (type) => postgresKinds[type] ?? 'text',
  ordered: (query) => query,
  counted: countedByWindow,
  unique: 'gen_random_uuid()::text',
  once: () => 'OFFSET 0',
  text: (column) => `${postgresText(column)} COLLATE "C"`,
  leave: (column) => `${postgresText(column)} COLLATE "C"`,
  bytes: (text) => text,
  literal: postgresLiteral,
  is: (form, text) => `${text} ~ ${quoted(`^(${formPatterns[form]})$`)}`,
  isMoment: ({ name }) => `${name} >= '1000-01-01' AND ${name} < '10000-01-01'`,
  month: postgresMonth,
  isNumber({ name, kind }, text) {
    if (kind === 'text') return postgresDialect.is('number', text);
    const isShort = `${name} BETWEEN -${edge} AND ${edge}`;
    // NaN and Infinity are beyond any number.
    return kind === 'integer' ? isShort : `${isShort} AND scale(${name}) <= 18`;
  },
  amount: ({ name, kind }, text) => `(${kind === 'text' ? text : name})::numeric`,
  sums: (amount) => [{ sql: `sum(${amount})`, exponent: 0 }],
  rank: (amount, sign) => `(3000000000000000000 ${sign} ${amount})::numeric(38, 18)::text`,
  rankLength: 38,
  concat: (...texts) => texts.join(' || '),
  indexOf: (text, character) => `strpos(${text}, ${quoted(character)})`,
  numberText: (number) => `(${number})::text`,
};

/** Types whose cast to text gives what their output function gives, which is what the plain read gets. It is the faster one. */
const castTypes = new Set([...Object.keys(postgresKinds), 'text', 'varchar', 'float4', 'float8']);

/** `concat` calls the output function, where a cast would strip the blanks of `char(n)` and write booleans out. */
function postgresText({ name, type }: SqlColumn): string {
  return castTypes.has(type) ? `coalesce(${name}::text, '')` : `concat(${name})`;
}

/** A search in an array: PostgreSQL would compile a search in SQL to machine code, which takes it a minute. */
function postgresMonth(ranges: readonly MonthRange[], { name, kind }: SqlColumn, sorted: string): string {
  const [first, ...others] = ranges.filter(({ from }) => from !== oddMark);
  if (first === undefined) return sorted;
  const written = `substr(${sorted}, 1, 7)`;
  const isText = kind === 'text';
  // What is no date is a group of its own.
  const guarded = (month: string): string =>
    isText ? `CASE WHEN ${sorted} >= '1' AND ${sorted} < '${oddMark}' THEN ${month} ELSE ${sorted} END` : month;
  if (others.length === 0) return guarded(first.month === 'written' ? written : sorted);
  const type = kind === 'instant' ? 'timestamptz' : kind === 'date' ? 'date' : 'timestamp';
  const edges = others.map(({ from }) => `"${from}${kind === 'instant' ? '+00' : ''}"`);
  const range = `width_bucket(${isText ? `${sorted}::timestamp` : name}, '{${edges.join(',')}}'::${type}[])`;
  const each = [first, ...others].flatMap(({ month }, at) => (month === 'each' ? [at] : []));
  const isWritten = others.some(({ month }) => month === 'written');
  return guarded(
    `CASE WHEN ${range} = ANY('{${each.join(',')}}'::int[]) THEN ${sorted} ELSE ${isWritten ? written : `${range}::text`} END`,
  );
}

const mysqlKinds: Readonly<Record<string, ColumnKind>> = {
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

export const mysqlDialect: Dialect = {
  kindOf: (type) => mysqlKinds[type] ?? 'text',
  // MariaDB forgets an ORDER BY inside another query, unless it has a LIMIT. A LIMIT writes all rows down once.
  ordered(query) {
    const words = outermostWords(query);
    if (!words.has('order')) return query;
    const limited = words.has('limit') || words.has('fetch') ? query : `${query}\nLIMIT ${allRows}`;
    // It would look among the names of the outer query for those that a union is ordered by.
    const isCombined = ['union', 'except', 'intersect'].some((word) => words.has(word));
    return isCombined ? `SELECT * FROM (\n${limited}\n) AS driver_sync` : limited;
  },
  unique: 'CAST(UUID_SHORT() AS CHAR(20) CHARACTER SET ascii)',
  // MariaDB's row_number() OVER () goes by no order that the rows had.
  counted: (table) => ({
    field: '(@driver_sync_place := CAST(@driver_sync_place AS SIGNED) + 1)',
    from: `(SELECT @driver_sync_place := 0) AS nothing STRAIGHT_JOIN ${table}`,
  }),
  // A LIMIT has the server write all rows down, which pays once: what is made of their texts costs most.
  once: (step) => (step === 'facts' ? `LIMIT ${allRows}` : ''),
  text({ name, kind }) {
    const text = `CONVERT(${name} USING utf8mb4) COLLATE utf8mb4_bin`;
    if (kind !== 'instant') return `coalesce(${text}, '')`;
    // As the plain read has it: UTC, and a zero date is no instant.
    return `CASE WHEN ${name} > 0 THEN CONCAT(${text}, '+00:00') ELSE coalesce(${text}, '') END`;
  },
  leave: (column) => mysqlDialect.text(column),
  bytes: (text) => `CAST(${text} AS BINARY)`,
  // As bytes, so that no sql_mode decides what a backslash is.
  literal: (text) => `X'${Buffer.from(text).toString('hex')}'`,
  isKey: (bytes) => `${bytes.map((key) => `LENGTH(${key})`).join(' + ')} <= ${keyBytesMax}`,
  is: (form, text) =>
    `${form === 'blank' ? `CONVERT(${text} USING utf8mb4)` : text} REGEXP CONVERT(${mysqlDialect.literal(`^(${formPatterns[form]})\\z`)} USING utf8mb4)`,
  // 2026-00-00 is a DATE too.
  isMoment: ({ name }) => `${name} >= '1000-01-01' AND MONTH(${name}) > 0 AND DAYOFMONTH(${name}) > 0`,
  // By the column itself where it is one of times: what is made of it is made anew for every comparison.
  month(ranges, { name, kind }, sorted) {
    if (kind === 'text') return searchMonth(ranges, { sorted, compared: sorted, literal: mysqlDialect.literal });
    const month = searchMonth(ranges, { sorted, compared: name, literal: quoted });
    return kind === 'instant' ? unlessInMiddle(sorted, month) : month;
  },
  isNumber({ name, kind }, text) {
    if (kind === 'text') return mysqlDialect.is('number', text);
    const isShort = `${name} BETWEEN -${edge} AND ${edge}`;
    return kind === 'integer' ? isShort : `${isShort} AND LENGTH(${text}) - INSTR(${text}, '.') <= 18`;
  },
  amount: ({ name, kind }, text) => `CAST(${kind === 'text' ? text : name} AS DECIMAL(38, 18))`,
  sums: (amount) => [{ sql: `SUM(${amount})`, exponent: 0 }],
  rank: (amount, sign) =>
    `CAST(CAST(3000000000000000000 ${sign} ${amount} AS DECIMAL(38, 18)) AS CHAR(38) CHARACTER SET ascii)`,
  rankLength: 38,
  concat: (...texts) => `CONCAT(${texts.join(', ')})`,
  indexOf: (text, character) => `INSTR(${text}, ${quoted(character)})`,
  // Short, or groups would hold their texts as BLOBs, on disk.
  numberText: (number) => `CAST(${number} AS CHAR(64) CHARACTER SET ascii)`,
};
