/** Types of ClickHouse: what they are to the agent, and how their values become texts. */
import type { ColumnKind } from './dialect.ts';

export interface ClickHouseType {
  /** Without what is around it: `Decimal(18, 2)` for `Nullable(Decimal(18, 2))`. */
  readonly base: string;
  readonly isNullable: boolean;
  readonly kind: ColumnKind;
}

/** @param written as the server describes a column: `LowCardinality(Nullable(String))` */
export function typeOf(written: string): ClickHouseType {
  let base = written;
  let isNullable = false;
  for (;;) {
    const [, outer, inner] = /^(Nullable|LowCardinality|SimpleAggregateFunction\(\w+,)\(?(.*)\)$/s.exec(base) ?? [];
    if (outer === undefined || inner === undefined) break;
    isNullable ||= outer === 'Nullable';
    base = inner.trim();
  }
  return { base, isNullable, kind: kindOf(base) };
}

function kindOf(base: string): ColumnKind {
  if (/^U?Int\d+$/.test(base)) return 'integer';
  if (base.startsWith('Decimal(')) return 'decimal';
  if (base === 'Date' || base === 'Date32') return 'date';
  // Moments, whatever zone they are shown in.
  return /^DateTime(?:64)?\b/.test(base) ? 'instant' : 'other';
}

/** Whether a value has no text: the state of an aggregate function. */
export function isState(written: string): boolean {
  return /(?:^|\()AggregateFunction\(/.test(written);
}

/** Whether texts of such a column are numbers that may have a point. */
export function isNumberText(written: string): boolean {
  return /^(?:Decimal\(|B?Float\d+$)/.test(typeOf(written).base);
}

/** Whether values of such a column have types of their own. */
export function isMixed(written: string): boolean {
  return /^(?:Variant|Dynamic)\b/.test(typeOf(written).base);
}

/** A name in SQL. */
export function named(name: string): string {
  return `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``;
}

/** A constant. */
export function constant(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** The value of a column as the agent reads it, which the format of the answer writes as text; NULL stays NULL. */
export function shown(sql: string, { base, kind }: ClickHouseType): string {
  if (kind === 'instant') return `concat(toString(${sql}, 'UTC'), '+00:00')`;
  // Such a text is filled up with NUL.
  if (base.startsWith('FixedString(')) return `replaceRegexpOne(toString(${sql}), '\\\\x00+$', '')`;
  return sql;
}
