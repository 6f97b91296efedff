/** Collapsing in the servers: PostgreSQL, and MySQL with MariaDB. */
import {
  type ColumnKind,
  type Dialect,
  type SqlColumn,
  always,
  amountDigits,
  amountMax,
  countedByWindow,
  everyYear,
  formPatterns,
  isShortDecimal,
  quoted,
  searchMonth,
  writtenMonth,
} from './dialect.ts';
import { type MonthRange, oddMark, skippedHours } from './month-ranges.ts';
import { outermostWords } from './query-words.ts';

/** Of `numeric(14,2)`: `numeric`. */
function wordOf(type: string): string {
  return type.replace(/\(.*/, '');
}

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
  kindOf: (type) => postgresKinds[wordOf(type)] ?? 'text',
  syntax: 'standard',
  ordered: (query) => query,
  counted: countedByWindow,
  unique: 'gen_random_uuid()',
  once: () => 'OFFSET 0',
  text: (column) => `${postgresText(column)} COLLATE "C"`,
  leave: (column) => postgresDialect.text(column),
  some: (column) => `max(${postgresDialect.leave(column)})`,
  packing: {
    pack: (texts) => `json_build_array(${texts.join(', ')})::text`,
    unpack: (packed, index) => `${packed}::json ->> ${index}`,
  },
  bytes: (text) => text,
  literal: postgresLiteral,
  firstCode: (column) => `ascii(${postgresText(column)})`,
  is(form, text) {
    // A server of another encoding than UTF-8 may have no such character: it takes the escape for none then.
    const pattern = formPatterns[form].replace(/[^\x20-\x7e]/gu, (character) => `\\u${hex(character)}`);
    const isForm = `${text} ~ ${quoted(`^(${pattern})$`)}`;
    if (form !== 'number') return isForm;
    // Counting digits makes a pattern six times as dear, and few numbers are long.
    return `CASE WHEN length(${text}) <= ${amountDigits} THEN ${text} ~ '^-?[0-9]+([.][0-9]+)?$' ELSE ${isForm} END`;
  },
  isOfYears: ({ name }, { first, last }) => `(${name} >= '${first}-01-01' AND ${name} < '${last + 1}-01-01')`,
  month: postgresMonth,
  isNumber({ name, kind, type }, text) {
    if (kind === 'text') return postgresDialect.is('number', text);
    if (isShortDecimal(type, postgresScaleMax)) return `${name} <> 'NaN'`;
    const isShort = `${name} BETWEEN -${amountMax} AND ${amountMax}`;
    // NaN and Infinity are beyond any number.
    return kind === 'integer' ? isShort : `${isShort} AND scale(${name}) <= ${postgresScaleMax}`;
  },
  amount: ({ name, kind }, text) => `(${kind === 'text' ? text : name})::numeric`,
  days: (column) =>
    `CASE WHEN ${postgresDialect.isOfYears(column, everyYear)} THEN (${column.name} - date '1970-01-01')::int8 END`,
  scale: () => undefined,
  sums: (amount) => [{ sql: `sum(${amount})`, exponent: 0 }],
  rank: (amount, sign) => `(3000000000000000000 ${sign} ${amount})::numeric(57, ${postgresScaleMax})::text`,
  rankLength: 58,
  concat: (...texts) => texts.join(' || '),
  line: (texts) => texts.join(' || '),
  numberText: (number) => `(${number})::text`,
};

/** Digits after the point: a division gives 20 of them, and an average of such results more. */
const postgresScaleMax = 38;

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Types whose cast to text gives what their output function gives, which is what the plain read gets. It is the faster one. */
const castTypes = new Set([...Object.keys(postgresKinds), 'text', 'varchar', 'float4', 'float8']);

/** `concat` calls the output function, where a cast would strip the blanks of `char(n)` and write booleans out. */
function postgresText({ name, type }: SqlColumn): string {
  return castTypes.has(wordOf(type)) ? `coalesce(${name}::text, '')` : `concat(${name})`;
}

/** A search in an array: PostgreSQL would compile a search in SQL to machine code, which takes it a minute. */
function postgresMonth(ranges: readonly MonthRange[], { name, kind }: SqlColumn, sorted: string): string {
  const [first, ...others] = ranges.filter(({ from }) => from !== oddMark);
  if (first === undefined) return sorted;
  const isText = kind === 'text';
  // What is no date is a group of its own.
  const guarded = (month: string): string =>
    isText ? `CASE WHEN ${sorted} >= '1' AND ${sorted} < '${oddMark}' THEN ${month} ELSE ${sorted} END` : month;
  const written = isText ? writtenMonth(sorted) : `date_trunc('month', ${name}::timestamp)`;
  if (others.length === 0) return guarded(first.month === 'written' ? written : sorted);
  const type = kind === 'instant' ? 'timestamptz' : kind === 'date' ? 'date' : 'timestamp';
  const edges = others.map(({ from }) => `"${from}${kind === 'instant' ? '+00' : ''}"`);
  const range = `width_bucket(${isText ? `${sorted}::timestamp` : name}, '{${edges.join(',')}}'::${type}[])`;
  const each = [first, ...others].flatMap(({ month }, at) => (month === 'each' ? [at] : []));
  const isEach = `${range} = ANY('{${each.join(',')}}'::int[])`;
  if (others.every(({ month }) => month !== 'written')) {
    return guarded(`CASE WHEN ${isEach} THEN ${sorted} ELSE ${range}::text END`);
  }
  // Beyond all years, so that it is no month's.
  const alone = isText ? sorted : `${name}::timestamp + interval '10000 years'`;
  return guarded(`CASE WHEN ${isEach} THEN ${alone} ELSE ${written} END`);
}

/**
 * Whether a wall time, for which there would be a search, is of no hour in which its clocks ever skip one, and between
 * the first and the last range. In the middle of a month, as an instant, it needs no such look: all clocks agree there.
 */
function isFarFromChanges(ranges: readonly MonthRange[], name: string): string | undefined {
  const hours = skippedHours(ranges);
  if (hours === undefined) return undefined;
  const [first, last] = [ranges[1], ranges.at(-1)] as [MonthRange, MonthRange];
  return `${name} >= ${quoted(first.from)} AND ${name} < ${quoted(last.from)} AND HOUR(${name}) NOT BETWEEN ${hours.first} AND ${hours.last}`;
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

/** Of the text of a number or a time. */
const numberBytesMax = 100;

/** Of `VAR_STRING(136)`, in bytes. */
function textBytes(type: string): number {
  return Number(/^(?:VAR_STRING|STRING)\((\d+)\)$/.exec(type)?.[1] ?? Infinity);
}

/** Digits after the point, more than which not every server has. */
const mysqlScaleMax = 30;

/** What `TO_DAYS` gives for 1970-01-01. */
const epochDay = 719_528;

/** No DATE is of a later year. */
const lastDateYear = 9999;

export const mysqlDialect: Dialect = {
  kindOf: (type) => mysqlKinds[wordOf(type)] ?? 'text',
  syntax: 'mysql',
  // MariaDB forgets an ORDER BY inside another query, unless it has a LIMIT. A LIMIT writes all rows down once.
  ordered(query) {
    const words = outermostWords(query, 'mysql');
    if (!words.has('order')) return query;
    const limited = words.has('limit') || words.has('fetch') ? query : `${query}\nLIMIT ${allRows}`;
    // It would look among the names of the outer query for those that a union is ordered by.
    const isCombined = ['union', 'except', 'intersect'].some((word) => words.has(word));
    return isCombined ? `SELECT * FROM (\n${limited}\n) AS driver_sync` : limited;
  },
  unique: 'UUID_SHORT()',
  // MariaDB's row_number() OVER () goes by no order that the rows had.
  counted: (table) => ({
    field: '(@driver_sync_place := CAST(@driver_sync_place AS SIGNED) + 1)',
    from: `(SELECT @driver_sync_place := 0) AS nothing STRAIGHT_JOIN ${table}`,
  }),
  // A LIMIT has the server write all rows down, which pays where much is made of their texts.
  once: (step) => (step === 'facts' ? `LIMIT ${allRows}` : ''),
  text({ name, kind }) {
    const text = `CONVERT(${name} USING utf8mb4) COLLATE utf8mb4_bin`;
    if (kind !== 'instant') return `coalesce(${text}, '')`;
    // As the plain read has it: UTC, and a zero date is no instant.
    return `CASE WHEN ${name} > 0 THEN CONCAT(${text}, '+00:00') ELSE coalesce(${text}, '') END`;
  },
  leave: (column) => mysqlDialect.text(column),
  // Of any row, which the session lets it.
  some: ({ name }) => name,
  bytes: (text) => `CAST(${text} AS BINARY)`,
  // As bytes, so that no sql_mode decides what a backslash is.
  literal: (text) => `X'${Buffer.from(text).toString('hex')}'`,
  isKey(keys) {
    const longest = keys.map(({ column: { kind, type } }) => (kind === 'text' ? textBytes(type) : numberBytesMax));
    if (longest.reduce((sum, bytes) => sum + bytes, 0) <= keyBytesMax) return always;
    return `${keys.map(({ bytes }) => `LENGTH(${bytes})`).join(' + ')} <= ${keyBytesMax}`;
  },
  firstCode: ({ name }) => `ASCII(${name})`,
  is: (form, text) =>
    `${form === 'blank' ? `CONVERT(${text} USING utf8mb4)` : text} REGEXP CONVERT(${mysqlDialect.literal(`^(${formPatterns[form]})\\z`)} USING utf8mb4)`,
  isOfYears({ name }, { first, last }) {
    const isEarly = last === lastDateYear ? '' : ` AND ${name} < '${last + 1}-01-01'`;
    return `(${name} >= '${first}-01-01'${isEarly})`;
  },
  // 2026-00-00 is a DATE too.
  isDay: ({ name }) => `(MONTH(${name}) > 0 AND DAYOFMONTH(${name}) > 0)`,
  // By the column itself where it is one of times: what is made of it is made anew for every comparison.
  month(ranges, { name, kind }, sorted) {
    const { literal } = mysqlDialect;
    if (kind === 'text')
      return searchMonth(ranges, { sorted, compared: sorted, written: writtenMonth(sorted), literal });
    const written = `EXTRACT(YEAR_MONTH FROM ${name})`;
    const named = ranges.map(({ from, month }) => ({ from, month: month.replace('-', '') }));
    const month = searchMonth(named, { sorted, compared: name, written, literal: quoted });
    const isWritten = kind === 'instant' ? `DAYOFMONTH(${name}) BETWEEN 2 AND 27` : isFarFromChanges(ranges, name);
    return isWritten === undefined ? month : `CASE WHEN ${isWritten} THEN ${written} ELSE ${month} END`;
  },
  isNumber({ name, kind, type }, text) {
    if (kind === 'text') return mysqlDialect.is('number', text);
    if (isShortDecimal(type, mysqlScaleMax)) return always;
    const isShort = `${name} BETWEEN -${amountMax} AND ${amountMax}`;
    return kind === 'integer' ? isShort : `${isShort} AND LENGTH(${text}) - INSTR(${text}, '.') <= ${mysqlScaleMax}`;
  },
  amount: ({ name, kind }, text) => (kind === 'text' ? `CAST(${text} AS DECIMAL(38, 18))` : name),
  days: ({ name }) => `(TO_DAYS(${name}) - ${epochDay})`,
  scale: ({ kind }, text) => (kind === 'text' ? `LENGTH(${text}) - INSTR(CONCAT(${text}, '.'), '.')` : undefined),
  sums: (amount) => [{ sql: `SUM(${amount})`, exponent: 0 }],
  rank: (amount, sign) =>
    `CAST(CAST(3000000000000000000 ${sign} ${amount} AS DECIMAL(49, ${mysqlScaleMax})) AS CHAR(50) CHARACTER SET ascii)`,
  rankLength: 50,
  concat: (...texts) => `CONCAT(${texts.join(', ')})`,
  line: (texts, length) => `CAST(CONCAT(${texts.join(', ')}) AS CHAR(${length}) CHARACTER SET ascii) COLLATE ascii_bin`,
  // Short, or groups would hold their texts as BLOBs, on disk.
  numberText: (number) => `CAST(${number} AS CHAR(64) CHARACTER SET ascii)`,
};
