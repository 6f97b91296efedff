/** Collapsing in PostgreSQL. */
import {
  type ColumnKind,
  type Dialect,
  type SqlColumn,
  countedByWindow,
  isShortDecimal,
  numberMax,
  quoted,
  whiteSpace,
  wordOf,
} from './dialect.ts';

const kinds: Readonly<Record<string, ColumnKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  date: 'date',
  timestamp: 'wall',
  timestamptz: 'instant',
};

/** Digits after the point: a division gives 20 of them, and an average of such results more. */
const scaleMax = 38;

/** As escapes: a server of another encoding than UTF-8 may have no such character. */
const blank = whiteSpace.replace(/[^\x20-\x7e]/gu, (character) => `\\u${hex(character)}`);

export const postgresDialect: Dialect = {
  syntax: 'standard',
  kindOf: (type) => kinds[wordOf(type)] ?? 'other',
  casts: { number: (name) => `${name}::numeric`, time: (name) => `${name}::date` },
  ordered: (query) => query,
  counted: countedByWindow,
  once: 'OFFSET 0',
  unique: 'gen_random_uuid()',
  text: (column) => `${textOf(column)} COLLATE "C"`,
  leave: (column) => postgresDialect.text(column),
  some: (column) => `max(${postgresDialect.leave(column)})`,
  packing: {
    pack: (texts) => `json_build_array(${texts.join(', ')})::text`,
    unpack: (packed, index) => `${packed}::json ->> ${index}`,
  },
  bytes: (text) => text,
  literal: (text) => `${quoted(text)} COLLATE "C"`,
  concat: (...texts) => texts.join(' || '),
  line: (texts) => texts.join(' || '),
  numberText: (number) => `(${number})::text`,
  isBlank: (text) => `${text} ~ ${quoted(`^[${blank}]*$`)}`,
  firstCode: (column) => `ascii(${textOf(column)})`,
  isOfYears: ({ name }, { first, last }) => `(${name} >= '${first}-01-01' AND ${name} < '${last + 1}-01-01')`,
  month: ({ name }, seconds) => `date_trunc('month', ${name}::timestamp + interval '${seconds} seconds')`,
  day: ({ name }) => `${name}::timestamp::date`,
  daysSinceEpoch: ({ name }) => `CASE WHEN isfinite(${name}) THEN (${name} - date '1970-01-01')::int8 END`,
  isNumber({ name, kind, type }) {
    if (isShortDecimal(type, scaleMax)) return `${name} <> 'NaN'`;
    const isShort = `${name} BETWEEN -${numberMax} AND ${numberMax}`;
    // NaN and Infinity are beyond any number.
    return kind === 'integer' ? isShort : `${isShort} AND scale(${name}) <= ${scaleMax}`;
  },
  rank: (number, sign) => `(3000000000000000000 ${sign} ${number})::numeric(57, ${scaleMax})::text`,
  rankLength: 58,
};

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Types whose cast to text gives what their output function gives, which is what the plain read gets. It is the faster one. */
const castTypes = new Set([...Object.keys(kinds), 'text', 'varchar', 'float4', 'float8']);

/** `concat` calls the output function, where a cast would strip the blanks of `char(n)` and write booleans out. */
function textOf({ name, type }: SqlColumn): string {
  return castTypes.has(wordOf(type)) ? `coalesce(${name}::text, '')` : `concat(${name})`;
}
