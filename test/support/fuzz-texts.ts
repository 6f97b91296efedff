/** Texts that the core reads: numbers, moments, names, and what a config says of them. */
import { parseDecimal, plainDecimal, describeBadDecimal, type DecimalFormat } from '../../src/core/numbers/decimal.ts';
import { formattedReader } from '../../src/core/numbers/formatted.ts';
import { mantissaText } from '../../src/core/numbers/mantissa.ts';
import { cron } from '../../src/config/scalars.ts';
import { parseDuration } from '../../src/core/duration.ts';
import { parsePattern } from '../../src/core/mapping/pattern.ts';
import { parseTemplate, renderText } from '../../src/core/mapping/template.ts';
import { parseSize } from '../../src/core/size.ts';
import { isMonthInRange } from '../../src/core/time/month.ts';
import { compileTimeReader, timeFormatProblem } from '../../src/core/time/time.ts';
import { nextDue, previousDue } from '../../src/edges/schedule.ts';
import { type FuzzTarget, must } from './fuzz-target.ts';
import { plainFormat } from './moments.ts';
import type { Draw } from './nasty-files.ts';

const bytesOf =
  (...lines: readonly string[]) =>
  (): Buffer[] =>
    lines.map((line) => Buffer.from(line));

const formats: readonly DecimalFormat[] = [
  plainDecimal,
  { ...plainDecimal, decimal: ',', group: { mark: '.', sizes: [3] } },
  { ...plainDecimal, group: { mark: ',', sizes: [3] } },
  { ...plainDecimal, group: { mark: ',', sizes: [3, 2] } },
  { ...plainDecimal, group: { mark: ' ', sizes: [3] }, decimal: ',' },
];

const blanks = /^[\s\u0085]+|[\s\u0085]+$/gu;

/** A number as the rules say it, written down without the parser: digits as text, moved by the exponent. */
function independently(text: string, { decimal, group }: DecimalFormat): string | undefined {
  const bare = text.replaceAll(blanks, '').replaceAll('\u2212', '-');
  // All white space is one mark.
  const trimmed = group?.mark === ' ' ? bare.replaceAll(/[\s\u0085]/gu, ' ') : bare;
  const parts = /^([+-]?)(.*?)(?:[eE]([+-]?\d+))?$/su.exec(trimmed);
  if (parts === null) return undefined;
  const [, sign, size = '', exponent] = parts;
  const at = size.indexOf(decimal);
  const whole = at < 0 ? size : size.slice(0, at);
  const fraction = at < 0 ? '' : size.slice(at + 1);
  const digits = ungrouped(whole, group);
  if (digits === undefined || !/^\d*$/.test(fraction) || digits + fraction === '') return undefined;
  const moved = Number(exponent ?? 0);
  if (exponent !== undefined && Math.abs(moved) > 100) return undefined;
  const padded = digits.padStart(1, '0') + fraction + '0'.repeat(Math.max(0, moved - fraction.length));
  const scale = Math.max(0, fraction.length - moved);
  const long = padded.padStart(scale + 1, '0');
  const integer = (scale === 0 ? long : long.slice(0, -scale)).replace(/^0+(?=\d)/, '');
  const value = scale === 0 ? integer : `${integer}.${long.slice(-scale)}`;
  return sign === '-' && /[1-9]/.test(value) ? `-${value}` : value;
}

/** The digits of a number with marks where groups are; `undefined` where a mark stands elsewhere. */
function ungrouped(whole: string, group: DecimalFormat['group']): string | undefined {
  if (group === undefined || !whole.includes(group.mark)) return /^\d*$/.test(whole) ? whole : undefined;
  const [first = '', ...groups] = whole.split(group.mark);
  const sizes = group.sizes;
  const isRight = groups.every((digits, index) => {
    const fromRight = groups.length - 1 - index;
    return /^\d+$/.test(digits) && digits.length === (sizes[fromRight] ?? sizes.at(-1));
  });
  const firstMax = sizes[groups.length] ?? sizes.at(-1) ?? 3;
  if (!isRight || !/^[1-9]\d*$/.test(first) || first.length > firstMax) return undefined;
  return first + groups.join('');
}

function checkNumber(input: Buffer, draw: Draw): void {
  const text = input.toString();
  const format = draw.one(formats);
  const value = parseDecimal(text, format);
  const shown = (): string => `${JSON.stringify(text)} in ${JSON.stringify(format)} is ${value}`;
  const wanted = independently(text, format);
  must(value === wanted, () => `${shown()}, and not ${wanted}`);
  if (value === undefined) {
    must(describeBadDecimal(text, format) !== '', () => `${shown()}, without a reason`);
    return;
  }
  must(/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value) && !/^-[0.]+$/.test(value), shown);
  must(parseDecimal(value, plainDecimal) === value, () => `${shown()}, which is read as something else`);
  checkFast(text, value, format);
}

/** The readers of columns, which make an integer and a scale of it, say the same or leave it. */
function checkFast(text: string, value: string, format: DecimalFormat): void {
  const into = { mantissas: new Float64Array(1), scales: new Int8Array(1) };
  const fast = formattedReader(format);
  if (fast === undefined) return;
  const spelling = fast(text, 0, into);
  if (spelling === 'unread') return;
  const read = mantissaText(into.mantissas[0] ?? Number.NaN, into.scales[0] ?? -1);
  must(read === value, () => `${JSON.stringify(text)} is ${value} and the reader of columns says ${read}`);
}

const timeFormats = [
  'iso',
  'unix',
  'unix-ms',
  'fiscal-year',
  'fiscal-quarter',
  'fiscal-period',
  'decimal-month',
  'excel-serial',
  'dd.MM.yyyy',
  'M/d/yy',
  'MMM yyyy',
  'yyyyMM',
  'MMMM d, yyyy HH:mm',
];

function checkMoment(input: Buffer, draw: Draw): void {
  const [first = '', second = ''] = input.toString().split('\n');
  const written = draw.once(4) ? second : draw.one(timeFormats);
  const format = { ...plainFormat, formats: [written], locales: [draw.one(['en', 'de', 'fr', 'ja'])] };
  if (timeFormatProblem(format) !== undefined) return;
  const moment = compileTimeReader(
    format,
    draw.one(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu']),
  )(first);
  if (typeof moment === 'string') {
    must(moment !== '', () => `no reason for ${JSON.stringify(first)}`);
    return;
  }
  const shown = (): string => `${JSON.stringify(first)} as ${written} is ${JSON.stringify(moment)}`;
  must(isMonthInRange(moment.month) && Number.isInteger(moment.months) && moment.months > 0, shown);
  must(Number.isInteger(moment.seconds) && moment.nanos >= 0 && moment.nanos < 1e9, shown);
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(first);
  if (written !== 'iso' || day === null) return;
  const [, year, month, date] = day.map(Number);
  const there = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, date));
  must(there.getUTCMonth() + 1 === month && there.getUTCDate() === date, () => `${shown()}, which is no day`);
}

function checkSchedule(input: Buffer, draw: Draw): void {
  const [expression = ''] = input.toString().split('\n');
  const timezone = draw.one(['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe']);
  const read = cron.safeParse(expression);
  if (!read.success || read.data === undefined) return;
  const schedule = read.data;
  const from = new Date(
    Date.UTC(2020 + draw.below(20), draw.below(12), draw.below(28), draw.below(24), draw.below(60)),
  );
  const next = nextDue(schedule, timezone, from);
  must(
    next.getTime() > from.getTime(),
    () => `${expression} in ${timezone} is due at ${next.toISOString()} after ${from.toISOString()}`,
  );
  const previous = previousDue(schedule, timezone, from);
  must(
    previous === undefined || previous.getTime() < from.getTime(),
    () => `${expression} was due at ${previous?.toISOString()} before ${from.toISOString()}`,
  );
}

export const textTargets: Readonly<Record<string, FuzzTarget>> = {
  numbers: {
    seeds: bytesOf(
      '0',
      '-1.50',
      '1,234,567.89',
      '1.234.567,89',
      '12,34,567.8',
      '1 234,5',
      '+.5',
      '5.',
      '1.5e-3',
      '-0.00',
      '99999999999999999999.00001',
    ),
    tokens: ['.', ',', ' ', '-', '+', '\u2212', '\u00a0', 'e', 'E+', '0', '9', '00', '000', '\u0663', '\uff11', "'"],
    check: checkNumber,
  },
  moments: {
    seeds: bytesOf(
      '2026-03-05',
      '2026-03-05T10:15:30.123+02:00',
      '1772668800',
      '05.03.2026\ndd.MM.yyyy',
      'März 2026\nMMMM yyyy',
      'Q3 FY26',
      '46086',
      '2026.25',
      '3/5/26',
      'March 5, 2026 10:15',
    ),
    tokens: [
      '-',
      '/',
      '.',
      ':',
      'T',
      'Z',
      '+14:00',
      '\u2212',
      '29',
      '31',
      '0',
      '24:00',
      '60',
      'Feb',
      'yyyy',
      "'",
      'QQQ',
      'w',
    ],
    check: checkMoment,
  },
  templates: {
    seeds: bytesOf('{region}/{name|lower}', 'a {b|map:r} {{c}}', '{a|match:"^x(.*)"}', '{#3}', '{file|slug}'),
    tokens: ['{', '}', '{{', '}}', '|', ':', 'map:r', 'match:', '"', '(', ')', '*', '+', '[a-', '\\', '{#'],
    check(input) {
      const parsed = parseTemplate(input.toString());
      if ('template' in parsed) renderText(parsed.template, (column) => column, { r: { a: 'b' } });
    },
  },
  patterns: {
    seeds: bytesOf('^a+b$', String.raw`(\d{4})-(\d\d)`, '(?i)x|y', '[^a-z]+', '(a*)*b'),
    tokens: ['(', ')', '[', ']', '{1000}', '*', '+', '?', '|', '^', '$', '.', '\\', String.raw`\p{L}`, '(?=', '(?<n>'],
    check(input, draw) {
      const pattern = parsePattern(input.toString(), draw.once(2) ? 'i' : '');
      // An engine that goes back would never end on this.
      if ('test' in pattern) pattern.test(`${'a'.repeat(5000)}!`);
    },
  },
  durations: {
    seeds: bytesOf('0s', '90s', '2h30m', '1d', '250ms', '10MB', '1.5GB', '10%'),
    tokens: ['s', 'ms', 'h', 'd', '-', '.', 'e9', '9'.repeat(20), ' ', 'GB', 'KiB'],
    check(input) {
      const text = input.toString();
      for (const value of [parseDuration(text), parseSize(text)]) {
        must(
          value === undefined || (Number.isSafeInteger(value) && value >= 0),
          () => `${JSON.stringify(text)} is ${value}`,
        );
      }
    },
  },
  schedules: {
    seeds: bytesOf(
      '15 2 * * *',
      '0 */5 * * * *',
      '0 0 29 2 *',
      '0 9 1-7 * MON',
      '30 4 L * *',
      '0 0 * * 5#2\nEurope/Berlin',
    ),
    tokens: ['*', '/', '-', ',', 'L', 'W', '#', '?', '31', '60', '0', 'JAN', 'SUN', '@daily', ' '],
    check: checkSchedule,
  },
};
