/** Collapsing in PostgreSQL. */
import type { Connection } from './connection.ts';
import {
  type ColumnKind,
  type Dialect,
  type GroupSql,
  type NumberSql,
  type SqlColumn,
  type TextSql,
  type TimeSql,
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

const texts: TextSql = {
  of: (column) => `${textOf(column)} COLLATE "C"`,
  leave: (column) => texts.of(column),
  bytes: (text) => text,
  literal: (text) => `${quoted(text)} COLLATE "C"`,
  concat: (...parts) => parts.join(' || '),
  line: (parts) => parts.join(' || '),
  isBlank: (text) => `${text} ~ ${quoted(`^[${blank}]*$`)}`,
  firstCode: (column) => `ascii(${textOf(column)})`,
};

const numbers: NumberSql = {
  text: (number) => `(${number})::text`,
  isShort({ name, kind, type }) {
    if (isShortDecimal(type, scaleMax)) return `${name} <> 'NaN'`;
    const isShort = `${name} BETWEEN -${numberMax} AND ${numberMax}`;
    // NaN and Infinity are beyond any number.
    return kind === 'integer' ? isShort : `${isShort} AND scale(${name}) <= ${scaleMax}`;
  },
  rank: (number, sign) => `(3000000000000000000 ${sign} ${number})::numeric(57, ${scaleMax})::text`,
  rankLength: 58,
};

const times: TimeSql = {
  isOfYears: ({ name }, { first, last }) => `(${name} >= '${first}-01-01' AND ${name} < '${last + 1}-01-01')`,
  month: ({ name }, seconds) => `date_trunc('month', ${name}::timestamp + interval '${seconds} seconds')`,
  day: ({ name }) => `${name}::timestamp::date`,
  daysSinceEpoch: ({ name }) => `CASE WHEN isfinite(${name}) THEN (${name} - date '1970-01-01')::int8 END`,
};

/** For servers before 13. A parallel plan draws in one process alone, so that this one groups the rows of all. */
const twoDraws = `random()::text || ' ' || random()::text`;

const groups: GroupSql = {
  some: (column) => `max(${texts.leave(column)})`,
  unique: 'gen_random_uuid()',
  packing: {
    pack: (parts) => `json_build_array(${parts.join(', ')})::text`,
    unpack: (packed, index) => `${packed}::json ->> ${index}`,
  },
};

/** The dialect of the server of a connection. @throws AgentError `part.unreadable` */
export async function postgresDialectOf(connection: Pick<Connection, 'rows'>): Promise<Dialect> {
  const question = "SELECT CASE WHEN to_regproc('gen_random_uuid') IS NULL THEN 'old' ELSE 'new' END";
  for await (const [[age] = []] of connection.rows(question)) {
    if (age === 'old') return { ...postgresDialect, groups: { ...groups, unique: twoDraws } };
  }
  return postgresDialect;
}

export const postgresDialect: Dialect = {
  syntax: 'standard',
  types: {
    kindOf: (type) => kinds[wordOf(type)] ?? 'other',
    numberCast: (name) => `${name}::numeric`,
    timeCast: (name) => `${name}::date`,
  },
  queries: { ordered: (query) => query, counted: countedByWindow, once: 'OFFSET 0' },
  texts,
  numbers,
  times,
  groups,
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
