/** Collapsing in SQLite, where each value has a type of its own and a column has none. */
import { type Dialect, type Form, countedByWindow, quoted, searchMonth, whiteSpace, writtenMonth } from './dialect.ts';

const digits = (count: number): string => '[0-9]'.repeat(count);
/** Digits of each of the four whole numbers that make up an amount: their sums are 64-bit integers that cannot overflow. */
const pieceDigits = 9;
const pieceAt = [1, 10, 19, 28];

/** An amount is a text: its sign, 18 digits before the point and 18 after it. */
function piece(amount: string, at: number): string {
  return `CAST(substr(${amount}, 1, 1) || substr(${amount}, ${at + 1}, ${pieceDigits}) AS INTEGER)`;
}

function isSecond(text: string): string {
  const form = `[1-9]${digits(3)}-${digits(2)}-${digits(2)}[ T]${digits(2)}:${digits(2)}:${digits(2)}`;
  return `${text} GLOB '${form}' AND datetime(${text}) = replace(${text}, 'T', ' ')`;
}

function hasFraction(text: string): string {
  const fraction = `substr(${text}, 20)`;
  return `length(${text}) BETWEEN 21 AND 29 AND ${fraction} GLOB '.[0-9]*' AND substr(${fraction}, 2) NOT GLOB '*[^0-9]*' AND ${isSecond(`substr(${text}, 1, 19)`)}`;
}

const forms: Readonly<Record<Form, (text: string) => string>> = {
  number(text) {
    const unsigned = `ltrim(${text}, '-')`;
    const dot = `instr(${text}, '.')`;
    return [
      `octet_length(${text}) BETWEEN 1 AND 38`,
      `${text} NOT GLOB '*[^0-9.-]*'`,
      `${unsigned} GLOB '[0-9]*'`,
      `${unsigned} GLOB '*[0-9]'`,
      `substr(${text}, 2) NOT GLOB '*-*'`,
      `length(${unsigned}) - length(replace(${unsigned}, '.', '')) <= 1`,
      `CASE ${dot} WHEN 0 THEN length(${unsigned}) <= 18 ELSE instr(${unsigned}, '.') <= 19 AND length(${text}) - ${dot} <= 18 END`,
    ].join(' AND ');
  },
  month: (text) => `${text} GLOB '[1-9]${digits(3)}-${digits(2)}' AND date(${text} || '-01') = ${text} || '-01'`,
  day: (text) => `${text} GLOB '[1-9]${digits(3)}-${digits(2)}-${digits(2)}' AND date(${text}) = ${text}`,
  minute: (text) => isSecond(`(${text} || ':00')`),
  second: isSecond,
  fraction: (text) => hasFraction(text),
  zuluSecond: (text) => `length(${text}) = 20 AND ${text} GLOB '*Z' AND ${isSecond(`substr(${text}, 1, 19)`)}`,
  zuluFraction: (text) => `${text} GLOB '*Z' AND ${hasFraction(`substr(${text}, 1, length(${text}) - 1)`)}`,
  moment: (text) =>
    `${text} GLOB '${digits(4)}[0-9TZ:., +-]*' AND ${text} NOT GLOB '*[^0-9TZ:., +-]*' AND length(${text}) BETWEEN 7 AND 44`,
  blank: (text) => `trim(${text}, ${quoted(whiteSpace)}) = ''`,
};

export const sqliteDialect: Dialect = {
  kindOf: () => 'text',
  syntax: 'standard',
  ordered: (query) => query,
  counted: countedByWindow,
  unique: 'hex(randomblob(16))',
  // A subquery with a LIMIT is not merged into the one around it.
  once: () => 'LIMIT -1',
  // A function has no collation; CAST alone would keep the column's own.
  text: ({ name }) => `coalesce(CAST(${name} AS TEXT), '')`,
  /**
   * CAST writes a REAL with up to 17 digits, the plain read the shortest text of that number: up to 15 digits they agree.
   * A BLOB is an error of the plain read, and a text that ends at a NUL is not all of it.
   */
  isFaithful({ name }, text) {
    const real = `${text} NOT GLOB '*[^0-9.-]*' AND length(ltrim(replace(replace(${text}, '-', ''), '.', ''), '0')) <= 15 AND CAST(${text} AS REAL) = ${name}`;
    return `CASE typeof(${name}) WHEN 'blob' THEN 0 WHEN 'real' THEN ${real} AND ${text} <> '-0.0' WHEN 'text' THEN instr(CAST(${name} AS BLOB), x'00') = 0 ELSE 1 END`;
  },
  leave: ({ name }) => name,
  // Of any row.
  some: ({ name }) => name,
  bytes: (text) => text,
  literal: quoted,
  firstCode: (column) => `unicode(${sqliteDialect.text(column)})`,
  is: (form, text) => forms[form](text),
  isOfYears: () => '0',
  month: (ranges, _column, sorted) =>
    searchMonth(ranges, { sorted, compared: sorted, written: writtenMonth(sorted), literal: quoted }),
  isNumber: (_column, text) => forms.number(text),
  amount(_column, text) {
    const unsigned = `ltrim(${text}, '-')`;
    const dot = `instr(${unsigned} || '.', '.')`;
    const zeros = quoted('0'.repeat(18));
    const whole = `substr(${zeros} || substr(${unsigned}, 1, ${dot} - 1), -18)`;
    const fraction = `substr(substr(${unsigned}, ${dot} + 1) || ${zeros}, 1, 18)`;
    return `CASE substr(${text}, 1, 1) WHEN '-' THEN '-' ELSE '+' END || ${whole} || ${fraction}`;
  },
  scale: (_column, text) => `length(${text}) - instr(${text} || '.', '.')`,
  sums: (amount) =>
    pieceAt.map((at, index) => ({ sql: `sum(${piece(amount, at)})`, exponent: pieceDigits * (1 - index) })),
  rank: (amount, sign) => pieceAt.map((at) => `CAST(3000000000 ${sign} ${piece(amount, at)} AS TEXT)`).join(' || '),
  rankLength: 40,
  concat: (...texts) => texts.join(' || '),
  line: (texts) => texts.join(' || '),
  numberText: (number) => `CAST(${number} AS TEXT)`,
};
