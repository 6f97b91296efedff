/** Collapsing in DuckDB. */
import {
  type ColumnKind,
  type Dialect,
  type SqlColumn,
  always,
  amountDigits,
  amountMax,
  countedByWindow,
  decimalDigits,
  everyYear,
  formPatterns,
  isShortDecimal,
  quoted,
  searchMonth,
  writtenMonth,
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

/** Digits of a number, as many of which as any table has rows can be summed within the 38 of a sum. */
const summableMax = 26;

/** Whether a sum is exact as the engine has it. */
function isSummable({ kind, type }: SqlColumn): boolean {
  if (kind === 'integer') return true;
  return (
    kind === 'decimal' && isShortDecimal(type, amountDigits) && (decimalDigits(type)?.all ?? Infinity) <= summableMax
  );
}

/** Texts are those of `duckdbText`, which the plain read selects too. */
export const duckdbDialect: Dialect = {
  kindOf: (type) => (type.startsWith('DECIMAL(') ? 'decimal' : (kinds[type] ?? 'text')),
  syntax: 'standard',
  ordered: (query) => query,
  counted: countedByWindow,
  unique: 'CAST(uuid() AS VARCHAR)',
  once: () => '',
  // A column keeps a collation of its own through casts.
  text: ({ name, type }) => `coalesce(CAST(${duckdbText(name, type)} AS VARCHAR), '') COLLATE "binary"`,
  leave: ({ name, type }) => duckdbText(name, type),
  some: ({ name }) => `max(${name})`,
  bytes: (text) => text,
  literal: quoted,
  firstCode: (column) => `ascii(${duckdbDialect.text(column)})`,
  is: (form, text) => `regexp_full_match(${text}, ${quoted(formPatterns[form])})`,
  // Not every type of them can be compared with every date. An infinite time has no year.
  isOfYears: ({ name }, { first, last }) => `year(${name}) BETWEEN ${first} AND ${last}`,
  month(ranges, { kind }, sorted) {
    const written = writtenMonth(sorted);
    const month = searchMonth(ranges, { sorted, compared: sorted, written, literal: quoted });
    if (kind !== 'instant') return month;
    // In the middle of a month all clocks of the world agree on it.
    return `CASE WHEN substr(${sorted}, 9, 2) BETWEEN '02' AND '27' THEN ${written} ELSE ${month} END`;
  },
  isNumber({ name, kind, type }, text) {
    // A number without a sign would be cast to compare it with one that has one, which the largest cannot be.
    if (kind === 'integer')
      return type.startsWith('U') ? `${name} <= ${amountMax}` : `${name} BETWEEN -${amountMax} AND ${amountMax}`;
    return isShortDecimal(type, amountDigits) ? always : duckdbDialect.is('number', text);
  },
  amount(column, text) {
    const { name, kind } = column;
    if (kind === 'integer') return `CAST(${name} AS HUGEINT)`;
    return isSummable(column) ? name : `CAST(${kind === 'text' ? text : name} AS DECIMAL(38, 18))`;
  },
  days: (column) =>
    `CASE WHEN ${duckdbDialect.isOfYears(column, everyYear)} THEN date_diff('day', DATE '1970-01-01', ${column.name}) END`,
  scale(column, text) {
    if (isSummable(column)) return undefined;
    return decimalDigits(column.type)?.scale.toString() ?? `length(${text}) - instr(${text} || '.', '.')`;
  },
  // In two, or a hundred rows of the largest numbers would be more than a DECIMAL holds.
  sums: (amount, column) =>
    isSummable(column)
      ? [{ sql: `sum(${amount})`, exponent: 0 }]
      : [
          { sql: `sum(CAST(trunc(${amount}) AS HUGEINT))`, exponent: 0 },
          { sql: `sum(${amount} - trunc(${amount}))`, exponent: 0 },
        ],
  rank: (amount, sign) =>
    `CAST(CAST(3000000000000000000 AS DECIMAL(38, 18)) ${sign} CAST(${amount} AS DECIMAL(38, 18)) AS VARCHAR)`,
  rankLength: 38,
  concat: (...texts) => texts.join(' || '),
  line: (texts) => texts.join(' || '),
  numberText: (number) => `CAST(${number} AS VARCHAR)`,
};

/**
 * A column as text: numbers with all their digits (a double is its shortest), times as ISO 8601 writes them, nested values
 * as JSON. NULL stays NULL.
 */
export function duckdbText(name: string, type: string): string {
  if (type === 'VARCHAR') return name;
  return `CAST(${nested.test(type) ? `to_json(${name})` : name} AS VARCHAR)`;
}

const nested = /\[\d*\]$|^(?:STRUCT|MAP|UNION)\(/;

/** Whether the text of such a column has no bound of its own. */
export function mayBeLong(type: string): boolean {
  return !/^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(.*\)|FLOAT|DOUBLE|BOOLEAN|DATE|TIME.*|INTERVAL|UUID)$/.test(
    type,
  );
}
