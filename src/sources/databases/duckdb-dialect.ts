/** Collapsing in DuckDB. */
import {
  type ColumnKind,
  type Dialect,
  countedByWindow,
  formPatterns,
  quoted,
  searchMonth,
  unlessInMiddle,
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

const edge = '999999999999999999';

/** Texts are those of `duckdbText`, which the plain read selects too. */
export const duckdbDialect: Dialect = {
  kindOf: (type) => (type.startsWith('DECIMAL(') ? 'decimal' : (kinds[type] ?? 'text')),
  ordered: (query) => query,
  counted: countedByWindow,
  unique: 'CAST(uuid() AS VARCHAR)',
  once: () => '',
  // A column keeps a collation of its own through casts.
  text: ({ name, type }) => `coalesce(${duckdbText(name, type)}, '') COLLATE "binary"`,
  leave: ({ name, type }) => duckdbText(name, type),
  bytes: (text) => text,
  literal: quoted,
  is: (form, text) => `regexp_full_match(${text}, ${quoted(formPatterns[form])})`,
  // By the text, since not every type of them can be compared with every date: infinities and years before Christ are told apart.
  isMoment: (_column, text) => `regexp_full_match(${text}, '[1-9][0-9]{3}-[0-9T:., +-]*')`,
  month(ranges, { kind }, sorted) {
    const month = searchMonth(ranges, { sorted, compared: sorted, literal: quoted });
    return kind === 'instant' ? unlessInMiddle(sorted, month) : month;
  },
  isNumber({ name, kind }, text) {
    return kind === 'integer' ? `${name} BETWEEN -${edge} AND ${edge}` : duckdbDialect.is('number', text);
  },
  amount: ({ name, kind }, text) => `CAST(${kind === 'integer' ? name : text} AS DECIMAL(38, 18))`,
  // In two, or a hundred rows of the largest numbers would be more than a DECIMAL holds.
  sums: (amount) => [
    { sql: `sum(CAST(trunc(${amount}) AS HUGEINT))`, exponent: 0 },
    { sql: `sum(${amount} - trunc(${amount}))`, exponent: 0 },
  ],
  rank: (amount, sign) => `CAST(CAST(3000000000000000000 AS DECIMAL(38, 18)) ${sign} ${amount} AS VARCHAR)`,
  rankLength: 38,
  concat: (...texts) => texts.join(' || '),
  indexOf: (text, character) => `instr(${text}, ${quoted(character)})`,
  numberText: (number) => `CAST(${number} AS VARCHAR)`,
};

/**
 * A column as text: numbers with all their digits (a double is its shortest), times as ISO 8601 writes them, nested values
 * as JSON. NULL stays NULL.
 */
export function duckdbText(name: string, type: string): string {
  if (type === 'VARCHAR') return name;
  const isNested = /\[\d*\]$|^(?:STRUCT|MAP|UNION)\(/.test(type);
  return `CAST(${isNested ? `to_json(${name})` : name} AS VARCHAR)`;
}
