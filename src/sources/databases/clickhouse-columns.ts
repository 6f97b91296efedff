/** Columns of a query in SQL of ClickHouse: as keys, as texts, as numbers to add up. */
import { AgentError } from '../../core/errors.ts';
import { constant, shown, typeOf } from './clickhouse-types.ts';
import { decimalDigits, whiteSpace } from './dialect.ts';

export interface ClickHouseColumn {
  readonly name: string;
  /** What stands for it in SQL. */
  readonly sql: string;
  /** As the server says it. */
  readonly type: string;
  /** Whether the server is older than 20.11, and has no decimals of more than 38 digits. */
  readonly isOld: boolean;
}

/** Digits that rows of any count may add to those of their numbers. */
const countDigits = 12;
const [sumDigits, wideSumDigits] = [38, 76] as const;

const isText = (base: string): boolean => /^(?:String|FixedString|Enum)/.test(base);

/** The column as one that is kept whole. */
export function keptOf({ sql, type, isOld }: ClickHouseColumn): string {
  const { base, kind } = typeOf(type);
  // A group that keeps no row is given one of defaults, which is 0: no value of most such types.
  if (/\bEnum(?:8|16)\(/.test(base)) return `toString(${sql})`;
  // A server of 2018 ends where it copies such a number to an odd address. Its texts have all digits; it would group by the number
  // again where the text is made by toString alone.
  const isWide = kind === 'decimal' && (decimalDigits(base)?.all ?? 0) > 18;
  return isOld && isWide ? `concat(toString(${sql}), '')` : sql;
}

/** The column as a key: equal keys have equal texts. */
export function keyOf(column: ClickHouseColumn): string {
  const { sql, type } = column;
  const { base, isNullable } = typeOf(type);
  const text = base === 'String' ? sql : shown(sql, typeOf(type));
  if (isText(base))
    return isNullable ? `ifNull(toString(${text}), '')` : base.startsWith('Enum') ? `toString(${sql})` : text;
  // Of 0 and -0 the texts differ.
  return base.startsWith('Float') ? `ifNull(toString(${sql}), '')` : keptOf(column);
}

/** Whether one of these keys is of nothing but white space; `undefined` where none can be. */
export function haveBlank(keys: readonly ClickHouseColumn[]): string | undefined {
  const texts = keys.filter(({ type }) => isText(typeOf(type).base)).map(keyOf);
  const others = keys.filter(({ type }) => !isText(typeOf(type).base) && typeOf(type).isNullable);
  // Nearly all names begin with a letter or digit of ASCII, and need no closer look: one for all keys, which costs half of one for each.
  const mayBe = any(texts.map((text) => `NOT (reinterpretAsUInt8(${text}) BETWEEN 33 AND 126)`));
  const are = any(texts.map((text) => `match(${text}, ${constant(`^[${whiteSpace}]*$`)})`));
  const found = [
    ...(texts.length === 0 ? [] : [`(${mayBe}) AND (${are})`]),
    ...others.map(({ sql }) => `isNull(${sql})`),
  ];
  return found.length === 0 ? undefined : any(found);
}

/** Whether the text of a column is one of these. */
export function isOneOf(column: ClickHouseColumn, texts: readonly string[]): string {
  const { base, isNullable, kind } = typeOf(column.type);
  if (kind === 'decimal') return any(texts.flatMap((text) => equalsDecimal(column, text)));
  const text = isText(base) ? keyOf(column) : `toString(${shown(column.sql, typeOf(column.type))})`;
  if (texts.length === 0) return '0';
  return `${isNullable ? `ifNull(${text}, '')` : text} IN (${texts.map(constant).join(', ')})`;
}

/** A decimal has one text: with all digits of its type. */
function equalsDecimal({ sql, type }: ClickHouseColumn, text: string): readonly string[] {
  const { base, isNullable } = typeOf(type);
  const { all: digits = 0, scale = 0 } = decimalDigits(base) ?? {};
  if (text === '') return isNullable ? [`isNull(${sql})`] : [];
  const point = scale === 0 ? '' : String.raw`\.\d{${scale}}`;
  const isOne = new RegExp(`^-?(?:0|[1-9]\\d{0,${Math.max(0, digits - scale - 1)}})${point}$`).test(text);
  if (!isOne || (text.startsWith('-') && !/[1-9]/.test(text))) return [];
  const equals = `${sql} = ${decimalOf(text, digits, scale)}`;
  return [isNullable ? `ifNull(${equals}, 0)` : equals];
}

function decimalOf(text: string, digits: number, scale: number): string {
  return `${digits > sumDigits ? 'toDecimal256' : 'toDecimal128'}('${text}', ${scale})`;
}

/** Whether a column has a value; `undefined` where it always has. */
export function isThere({ sql, type }: ClickHouseColumn): string | undefined {
  return typeOf(type).isNullable ? `isNotNull(${sql})` : undefined;
}

/** The value of a column that has one. */
export function valueOf({ sql, type }: ClickHouseColumn): string {
  return typeOf(type).isNullable ? `assumeNotNull(${sql})` : sql;
}

/** Whether a time is the first of its type, which old servers write as 0000-00-00: to the agent that is a reject. */
export function isFirstMoment(column: ClickHouseColumn): string {
  return `${valueOf(column)} = CAST(0, ${constant(typeOf(column.type).base)})`;
}

/** A number such that the greatest of them is the least value. */
export function turned(column: ClickHouseColumn): string {
  const bits = Number(/\d+$/.exec(typeOf(column.type).base)?.[0] ?? 0);
  const value = valueOf(column);
  if (typeOf(column.type).kind === 'decimal') return `negate(${value})`;
  return bits < 64 ? `negate(toInt64(${value}))` : `negate(${exact(value, bits)})`;
}

function exact(value: string, bits: number): string {
  return bits > 64 ? `toInt256(${value})` : `toDecimal128(${value}, 0)`;
}

/** How numbers are added up without a loss. */
export interface SumSql {
  readonly number: string;
  /** Whether a number is so small that any count of them can be added up; `undefined` where all are. */
  readonly isShort: string | undefined;
}

/**
 * @throws AgentError `part.unreadable` where it cannot be added up exactly
 */
export function sumOf(column: ClickHouseColumn): SumSql {
  const { base, kind } = typeOf(column.type);
  const value = valueOf(column);
  if (kind === 'integer') {
    const bits = Number(/\d+$/.exec(base)?.[0]);
    if (bits < 32) return { number: value, isShort: undefined };
    const isShort = bits > 64 ? within(value, `toInt256('1${'0'.repeat(60)}')`) : undefined;
    return { number: exact(value, bits), isShort };
  }
  const { all: digits = 0, scale = 0 } = decimalDigits(base) ?? {};
  if (digits + countDigits <= sumDigits) return { number: value, isShort: undefined };
  if (!column.isOld) {
    const number = digits > sumDigits ? value : `toDecimal256(${value}, ${scale})`;
    if (digits + countDigits <= wideSumDigits) return { number, isShort: undefined };
    return { number, isShort: within(value, power(wideSumDigits - countDigits - scale, column)) };
  }
  return { number: value, isShort: within(value, power(sumDigits - countDigits - scale, column)) };
}

function within(value: string, bound: string): string {
  return `(${value} < ${bound} AND ${value} > negate(${bound}))`;
}

/** A decimal of one and so many zeros. @throws AgentError `part.unreadable` where most numbers would not be below it */
function power(zeros: number, { name, type }: ClickHouseColumn): string {
  if (zeros >= 12) return decimalOf(`1${'0'.repeat(zeros)}`, zeros, 0);
  throw new AgentError('part.unreadable', `the column ${name} has more digits than are sure to be added up exactly`, {
    hint: `write toDecimal128(${name}, 10) AS ${name} in the query with the digits that ${typeOf(type).base} needs, or leave pushdown out`,
  });
}

export function any(conditions: readonly string[]): string {
  return conditions.length === 0 ? '0' : conditions.map((condition) => `(${condition})`).join(' OR ');
}

export function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? '1' : conditions.map((condition) => `(${condition})`).join(' AND ');
}

/** Days on which the clocks of a zone are moved, as a list of constants. */
export function days(texts: readonly string[]): string {
  return texts.map((text) => `toDate('${text}')`).join(', ');
}
