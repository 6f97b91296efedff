/** The type of a Parquet column, and how its stored values become exact text. */
import { isUtf8 } from 'node:buffer';
import type { LogicalType, SchemaElement, TimeUnit } from 'hyparquet';
import { dateText, momentText, timeText } from './iso-text.ts';

/** How the values of one column are stored, and what makes text of them. `undefined` for a type that has no text. */
export interface ColumnText {
  /**
   * `bytes`: the stored bytes of a value; `nanos`: an INT96 as nanoseconds since 1970; `value`: a number, bigint or
   * boolean as stored.
   */
  readonly from: 'bytes' | 'nanos' | 'value';
  readonly textOf: (stored: unknown) => string | NoText;
  /** Whether its values are numbers that may have decimals. */
  readonly isNumber?: boolean;
}

/** A value that has no text. */
export class NoText {
  /** `holds no valid utf-8` */
  readonly why: string;
  /** Its first bytes, for people. */
  readonly shown: string;

  constructor(why: string, bytes: Uint8Array) {
    const hex = Buffer.from(bytes.subarray(0, shownBytes)).toString('hex');
    this.why = why;
    this.shown = `0x${hex}${bytes.length > shownBytes ? '…' : ''}`;
  }
}

const shownBytes = 16;
/** Formats in use have up to 76 digits; to make text of a number takes the square of its digits. */
const scaleMax = 1000;
const decimalBytesMax = 1000;

/** The words of the newer logical types for what a column means; the older converted types are put into them. */
type Meaning = LogicalType | { readonly type: 'TEXT' | 'NONE' };

const perSecond: Readonly<Record<TimeUnit, bigint>> = { MILLIS: 1000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };

/** `undefined` for lists and maps, and for types without a text that a mapping could use. */
export function columnText(element: SchemaElement): ColumnText | undefined {
  if (element.repetition_type === 'REPEATED') return undefined;
  const meaning = meaningOf(element);
  if (meaning.type === 'DECIMAL' && !(meaning.scale >= 0 && meaning.scale <= scaleMax)) return undefined;
  switch (element.type) {
    case 'BOOLEAN':
      return { from: 'value', textOf: String };
    case 'INT32':
    case 'INT64':
      return integerText(meaning, element.type === 'INT32' ? 32 : 64);
    case 'INT96':
      // The type that Impala and Spark wrote moments with; it does not say whether in UTC.
      return { from: 'nanos', textOf: (nanos) => momentText(nanos as bigint, perSecond.NANOS) };
    case 'FLOAT':
      return { from: 'value', textOf: (value) => floatText(value as number), isNumber: true };
    case 'DOUBLE':
      return { from: 'value', textOf: String, isNumber: true };
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      return bytesText(meaning);
    case undefined:
      return undefined;
  }
}

/** The column's type in the words of the newer logical types. */
function meaningOf({
  logical_type: logical,
  converted_type: converted,
  scale = 0,
  precision = 0,
}: SchemaElement): Meaning {
  if (logical !== undefined && Object.keys(logical).length > 0) return logical;
  switch (converted) {
    case undefined:
      return { type: 'NONE' };
    case 'UTF8':
      return { type: 'STRING' };
    case 'DECIMAL':
      return { type: 'DECIMAL', precision, scale };
    // "TIMESTAMP_MILLIS corresponds to isAdjustedToUTC = true" (the format's backward compatibility rules).
    case 'TIMESTAMP_MILLIS':
      return { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' };
    case 'TIMESTAMP_MICROS':
      return { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' };
    case 'TIME_MILLIS':
      return { type: 'TIME', isAdjustedToUTC: true, unit: 'MILLIS' };
    case 'TIME_MICROS':
      return { type: 'TIME', isAdjustedToUTC: true, unit: 'MICROS' };
    case 'UINT_8':
    case 'UINT_16':
    case 'UINT_32':
    case 'UINT_64':
      return { type: 'INTEGER', bitWidth: Number(converted.slice(5)), isSigned: false };
    case 'INT_8':
    case 'INT_16':
    case 'INT_32':
    case 'INT_64':
      return { type: 'INTEGER', bitWidth: Number(converted.slice(4)), isSigned: true };
    case 'MAP_KEY_VALUE':
      return { type: 'MAP' };
    default:
      return { type: converted };
  }
}

function integerText(meaning: Meaning, bits: number): ColumnText | undefined {
  const textFrom = (textOf: (stored: bigint) => string): ColumnText => ({
    from: 'value',
    textOf: (stored) => textOf(BigInt(stored as number | bigint)),
  });
  switch (meaning.type) {
    case 'DECIMAL':
      return { ...textFrom((unscaled) => decimalText(unscaled, meaning.scale)), isNumber: true };
    case 'DATE':
      // "DATE must annotate an INT32" (LogicalTypes.md); the library gives a bigint for more bits.
      return bits === 32 ? { from: 'value', textOf: (days) => dateText(days as number) } : undefined;
    case 'TIME':
      return textFrom((ticks) => timeText(ticks, perSecond[meaning.unit]));
    case 'TIMESTAMP': {
      const zone = meaning.isAdjustedToUTC ? 'Z' : '';
      return textFrom((ticks) => `${momentText(ticks, perSecond[meaning.unit])}${zone}`);
    }
    case 'INTEGER':
      return meaning.isSigned
        ? { from: 'value', textOf: String }
        : textFrom((value) => String(BigInt.asUintN(bits, value)));
    case 'NONE':
    // A column of nothing but nulls has some type.
    case 'NULL':
      return { from: 'value', textOf: String };
    default:
      return undefined;
  }
}

function bytesText(meaning: Meaning): ColumnText | undefined {
  switch (meaning.type) {
    case 'DECIMAL':
      return { from: 'bytes', textOf: (bytes) => bytesDecimal(bytes as Uint8Array, meaning.scale), isNumber: true };
    case 'STRING':
    case 'ENUM':
    case 'JSON':
      return { from: 'bytes', textOf: (bytes) => utf8Text(bytes as Uint8Array, 'holds no valid utf-8') };
    case 'UUID':
      return { from: 'bytes', textOf: (bytes) => uuidText(bytes as Uint8Array) };
    case 'NONE':
    case 'NULL':
      return {
        from: 'bytes',
        textOf: (bytes) =>
          utf8Text(bytes as Uint8Array, 'holds no text (BYTE_ARRAY without a type, and no valid utf-8)'),
      };
    default:
      return undefined;
  }
}

function bytesDecimal(bytes: Uint8Array, scale: number): string | NoText {
  if (bytes.length > decimalBytesMax) return new NoText(`holds a decimal of ${bytes.length} bytes`, bytes);
  return decimalText(bigEndian(bytes), scale);
}

/** `-1.50` of -150 and scale 2. */
function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The two's complement number of these bytes. */
function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function utf8Text(bytes: Uint8Array, problem: string): string | NoText {
  return isUtf8(bytes) ? utf8.decode(bytes) : new NoText(problem, bytes);
}

function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Below this a 32-bit number has less than 6 digits. */
const subnormal = 2 ** -126;

/** The shortest text that is this 32-bit number again; 9 digits always do, and 6 say any that fewer digits said. */
function floatText(value: number): string {
  for (let digits = Math.abs(value) < subnormal ? 1 : 6; digits < 9; digits++) {
    const near = Number(value.toPrecision(digits));
    if (Math.fround(near) === value) return String(near);
  }
  return String(Number.isFinite(value) ? Number(value.toPrecision(9)) : value);
}
