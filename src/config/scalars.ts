/** Schemas of single values: durations, sizes, marks, zones, schedules, templates. */
import { Cron } from 'croner';
import { z } from 'zod';
import { parseDecimal, plainDecimal } from '../core/numbers/decimal.ts';
import { durationMaxDays, parseDuration } from '../core/duration.ts';
import { parseMonth } from '../core/time/month.ts';
import { parsePattern } from '../core/mapping/pattern.ts';
import type { Limit, Poll } from '../core/settings.ts';
import { parseSize } from '../core/size.ts';
import { type Template, parseTemplate } from '../core/mapping/template.ts';
import { quote, shellPathProblem } from '../core/text.ts';
import { localeProblem } from '../core/time/token-time.ts';
import { isTimeZone } from '../core/time/zone.ts';
import { nearest } from '../core/nearest.ts';

/** Why a value does not fit. Only `detail` may quote it. */
export interface ScalarDiagnostic {
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset?: number;
}

/** What an editor is told of a value (JSON Schema). */
export interface ScalarSchema {
  readonly type: string | readonly string[];
  readonly pattern?: string;
  readonly examples?: readonly (string | number)[];
}

export type ScalarResult<T> = { readonly value: T } | { readonly diagnostic: ScalarDiagnostic };

export type Scalar<T> = z.ZodPipe<z.ZodUnknown, z.ZodTransform<T>>;

/** A schema for one value. `parse` gets what is written, of any type; the caller reports a missing value. */
export function scalar<T>(schema: ScalarSchema, parse: (written: unknown) => ScalarResult<T>): Scalar<T> {
  const { examples, ...described } = schema;
  return z
    .unknown()
    .transform((written, context): T => {
      if (written === undefined) {
        context.issues.push({ code: 'invalid_type', expected: 'unknown', input: written });
        return z.NEVER;
      }
      const result = parse(written);
      if ('value' in result) return result.value;
      const { message, ...params } = result.diagnostic;
      context.issues.push({ code: 'custom', message, params, input: written, continue: false });
      return z.NEVER;
    })
    .meta({
      ...described,
      ...(examples && { examples: [...examples] }),
      ...(schema.pattern === undefined ? {} : { pattern: `${schema.pattern}|\\$\\{` }),
    });
}

/** A program that writes a config means by `null` that there is nothing: four letters would make one driver of all rows. */
export const nullHint = 'leave the key out, or put the text that is meant in quotes';

/** A schema for a value that is written as a text, a number or a boolean; `parse` gets its text. */
function textScalar<T>(
  expected: string,
  schema: Partial<ScalarSchema>,
  parse: (text: string) => ScalarResult<T>,
): Scalar<T> {
  return scalar({ type: 'string', ...schema }, (written) => {
    if (written === null) return unexpected(expected, written, nullHint);
    const text = textOf(written);
    return text === undefined ? unexpected(expected, written) : parse(text);
  });
}

/** The text of a scalar: for a number or boolean the text in the file, see `Written`. */
export function textOf(written: unknown): string | undefined {
  if (written === null) return 'null';
  const isScalar = typeof written === 'string' || typeof written === 'number' || typeof written === 'boolean';
  return isScalar ? String(written) : undefined;
}

function unexpected(expected: string, written: unknown, hint?: string): { readonly diagnostic: ScalarDiagnostic } {
  const detail = `, found ${describeWritten(written)}`;
  return { diagnostic: { message: `expected ${expected}`, detail, ...(hint === undefined ? {} : { hint }) } };
}

/** A value as diagnostics show it. */
export function describeWritten(written: unknown): string {
  if (written === null || typeof written === 'number' || typeof written === 'boolean') return String(written);
  if (typeof written === 'string') return quote(written);
  if (Array.isArray(written)) return 'a list';
  return written === undefined ? 'nothing' : 'a mapping';
}

/** For editors: types of YAML whose source text is taken. */
const scalarTypes = ['string', 'number', 'boolean'];

/** Any text, also an empty one. */
export const anyText = textScalar('a text', { type: scalarTypes }, (text) => ({ value: text }));

/** The same in `missing`, as a cell may have it: `null` is these four letters. */
export const cellText = scalar<string>({ type: [...scalarTypes, 'null'] }, (written) => {
  const said = textOf(written);
  return said === undefined ? unexpected('a text', written) : { value: said };
});

/** What a cell is compared with. `null` may mean the empty cell or these four letters, and nobody should have to guess. */
export const comparedText = textOrNothing('an empty cell');

/** What stands in the place of a text in a map, where the same two may be meant. */
export const mappedText = textOrNothing('the empty text');

/** @param nothing what `null` may mean beside its letters */
function textOrNothing(nothing: string): Scalar<string> {
  const hint = `write "" for ${nothing}, or put the word in quotes, such as "null"`;
  return scalar<string>({ type: scalarTypes }, (written) => {
    const said = written === null ? undefined : textOf(written);
    return said === undefined ? unexpected('a text', written, written === null ? hint : undefined) : { value: said };
  });
}

/** A field of a row. `null` is the empty text, as NULL in a database is. */
export const fieldText = scalar<string>({ type: [...scalarTypes, 'null'] }, (written) => {
  const said = written === null ? '' : textOf(written);
  return said === undefined ? unexpected('a text', written) : { value: said };
});

export const text = textScalar('a text', {}, (written) =>
  written.trim() === '' ? { diagnostic: { message: 'the text is empty' } } : { value: written },
);

/** The path of a file or a directory of this machine. */
export const filePath = textScalar('a text', {}, (written) => {
  const problem = written.trim() === '' ? { message: 'the text is empty' } : shellPathProblem(written);
  return problem === undefined ? { value: written } : { diagnostic: problem };
});

/** One text or several. */
export const textOrTexts = z.union([text.transform((only) => [only]), z.array(text).min(1)], {
  error: 'expected a text or a list of texts',
});

/** `2026-03` */
export const month = monthOr();

/** The same where something else may stand instead, which the hint names. */
export function monthOr(hint?: string): Scalar<string> {
  return textScalar('a month', { examples: ['2026-03'] }, (written) =>
    parseMonth(written.trim()) === undefined
      ? unexpected('a month such as 2026-03', written, hint)
      : { value: written.trim() },
  );
}

/** Milliseconds. */
export const duration = durationScalar(0);

/** Milliseconds, at least one. */
export const positiveDuration = durationScalar(1);

/** Milliseconds, or `undefined` for `off`. */
export const durationOrOff = scalar<number | undefined>(
  { type: 'string', pattern: '^(\\s*\\d+(ms|s|m|h|d)\\s*|off)$', examples: ['30s'] },
  (written) => (written === 'off' ? { value: undefined } : readDuration(written, 0)),
);

function durationScalar(leastMs: number): Scalar<number> {
  const schema = { type: 'string', pattern: '^\\s*\\d+(ms|s|m|h|d)\\s*$', examples: ['30s', '20h'] };
  return scalar(schema, (written) => readDuration(written, leastMs));
}

function readDuration(written: unknown, leastMs: number): ScalarResult<number> {
  const ms = typeof written === 'string' ? parseDuration(written) : undefined;
  if (ms !== undefined && ms >= leastMs) return { value: ms };
  if (ms !== undefined) return unexpected('a duration longer than 0s', written);
  const bare = textOf(written) ?? '';
  if (/^\d+(ms|s|m|h|d)$/.test(bare)) return unexpected(`a duration of at most ${durationMaxDays}d`, written);
  const hint = /^\d+$/.test(bare) ? withUnits(bare) : 'write whole numbers with ms, s, m, h or d, such as 90m';
  return unexpected('a duration such as 30s, 20h or 400d', written, hint);
}

/** All of them, so that nobody who follows a hint keeps snapshots for 400 seconds. */
function withUnits(digits: string): string {
  return `write ${digits}s, ${digits}m, ${digits}h or ${digits}d`;
}

/** Bytes. */
export const size = scalar<number>(
  { type: 'string', pattern: '^\\s*\\d+ ?([kKmMgGtT][iI]?)?[bB]\\s*$', examples: ['10GB', '512MiB'] },
  (written) => {
    const bytes = typeof written === 'string' ? parseSize(written) : undefined;
    if (bytes !== undefined) return { value: bytes };
    const bare = textOf(written) ?? '';
    const hint = /^\d+$/.test(bare) ? `write ${bare}GB` : 'write whole numbers with B, kB, MB, GB, TB, MiB or GiB';
    return unexpected('a size such as 10GB or 500MB', written, hint);
  },
);

/** A share of a whole, or a count. */
export const limit = scalar<Limit>(
  { type: ['string', 'integer'], pattern: '^\\s*(\\d+(\\.\\d{1,4})?\\s*%|\\d+)\\s*$', examples: ['10%', '0.5%', 3] },
  (written) => {
    const said = (textOf(written) ?? '').trim();
    const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,4}))?\s*%$/.exec(said) ?? [];
    // 1% is 10 000 millionths, so four decimals of a per cent are exact.
    const millionths = whole === undefined ? undefined : Number(whole) * 10_000 + Number(fraction.padEnd(4, '0'));
    if (millionths !== undefined && millionths <= 1_000_000) return { value: { kind: 'share', millionths } };
    if (/^\d{1,15}$/.test(said)) return { value: { kind: 'count', count: Number(said) } };
    return unexpected('a share such as 10% or 0.5%, or a count such as 3', written);
  },
);

export const timezone = textScalar('a time zone', { examples: ['Europe/Berlin', 'UTC'] }, (name) => {
  if (isTimeZone(name)) return { value: name };
  return unexpected('an IANA time zone such as Europe/Berlin or UTC', name, nearestZone(name));
});

function nearestZone(name: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = name.split('/').at(-1)?.toLowerCase().replaceAll(' ', '_');
  const near = zones.find((zone) => zone.toLowerCase().split('/').at(-1) === city) ?? nearest(name, zones);
  return near === undefined ? undefined : `write ${near}`;
}

/** A duration, or a cron expression. */
export const poll = scalar<Poll>({ type: 'string', examples: ['5m', '0 6 * * *', '@hourly'] }, (written) => {
  if (typeof written === 'string' && /\s|^@/.test(written.trim())) {
    const cronResult = readCron(written);
    return 'value' in cronResult ? { value: { kind: 'cron', expression: cronResult.value } } : cronResult;
  }
  const result = readDuration(written, 1);
  return 'value' in result ? { value: { kind: 'every', ms: result.value } } : result;
});

const monthNames = 'January February March April May June July August September October November December'.split(' ');

/** 1 to 12. */
export const monthOfYear = scalar<number>({ type: ['string', 'integer'], examples: ['April', 4] }, (written) => {
  const said = (textOf(written) ?? '').trim();
  const named = monthNames.findIndex((name) => said.length >= 3 && name.toLowerCase().startsWith(said.toLowerCase()));
  const number = /^\d{1,2}$/.test(said) ? Number(said) : named + 1;
  if (number >= 1 && number <= 12) return { value: number };
  return unexpected('a month such as April, or 1 to 12', written);
});

export const locale = textScalar('a locale', { examples: ['en', 'de'] }, (name) => {
  if (localeProblem(name) === undefined) return { value: name };
  return unexpected('a locale of date-fns such as en, de or en-GB', name);
});

export const cron = textScalar('a cron expression', { examples: ['15 2 * * *', '@daily'] }, readCron);

/** As cron itself has them. */
const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

function readCron(written: string): ScalarResult<string> {
  const expression = nicknames[written.trim().toLowerCase()] ?? written;
  const fields = expression.trim().split(/\s+/);
  const expected = 'a cron expression of five fields, or six with seconds';
  // croner would also take a text with a colon as a date, and further nicknames.
  const isPlain = fields.every((field) => /^[\w*/,?#+-]+$/.test(field));
  if (fields.length < 5 || fields.length > 6 || !isPlain)
    return unexpected(expected, expression, 'such as "15 2 * * *", or @hourly, @daily, @weekly or @monthly');
  try {
    // From a fixed day, so that a config is valid on every day or on none; by an offset, for which nobody asks Intl (see zone.ts).
    const next = new Cron(expression.trim(), { utcOffset: 0, mode: '5-or-6-parts' }).nextRun(
      new Date(Date.UTC(2026, 0, 1)),
    );
    if (next !== null) return { value: expression.trim() };
    return { diagnostic: { message: 'a schedule that never comes due', detail: `: ${quote(expression)}` } };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    // croner numbers fields with the seconds as 0, and has replaced names in what it shows of them; months count from 0, and days from -1.
    const field = (_all: string, at: string): string => quote(fields[Number(at) - 6 + fields.length] ?? expression);
    const told = error.message
      .replace(/^Cron\w*: /, '')
      .replace(/configuration entry (\d) \([^)]*\)/, field)
      .replace(/(for (?:month|day): )(-?\d+)$/, (_all, before, number) => `${before}${Number(number) + 1}`);
    const detail = `: ${told}`;
    return { diagnostic: { message: 'not a cron expression', detail, hint: 'such as "15 2 * * *"' } };
  }
}

export const pattern = textScalar('a regular expression', { examples: ['^\\d{4}-\\d{2}$'] }, (source) => {
  const parsed = parsePattern(source);
  if (!('problem' in parsed)) return { value: parsed };
  const { problem, hint } = parsed;
  return { diagnostic: { message: 'bad regular expression', detail: `: ${problem}`, ...(hint ? { hint } : {}) } };
});

export const template = textScalar(
  'a template',
  { type: scalarTypes, examples: ['revenue/{region}/{product|slug}'] },
  (written): ScalarResult<Template> => {
    const parsed = parseTemplate(written);
    if ('problem' in parsed) {
      return { diagnostic: { message: 'bad template', detail: `: ${parsed.problem}`, offset: parsed.offset } };
    }
    return written.trim() === '' ? { diagnostic: { message: 'the template is empty' } } : { value: parsed.template };
  },
);

/** Canonical decimal text. */
export const factor = scalar<string>({ type: ['string', 'number'], examples: [1000, '0.001'] }, (written) => {
  const number = parseDecimal(textOf(written) ?? '', plainDecimal);
  if (number === undefined) return unexpected('a number such as 1000 or 0.001', written);
  if (!/[1-9]/.test(number)) return { diagnostic: { message: 'a scale of 0 makes every value 0' } };
  return { value: number };
});

/** Whether two marks are read alike: all white space is one mark, and so are both apostrophes. */
export function sameMark(a: string, b: string): boolean {
  const plain = (mark: string): string => mark.replace(/\s/u, ' ').replace('\u2019', "'");
  return plain(a) === plain(b);
}

const decimalMark = 'one character, but no digit, sign, letter or white space';

export const decimal = textScalar('a decimal mark', { examples: [',', '.'] }, (mark) =>
  isMark(mark) && !/\s/u.test(mark) ? { value: mark } : unexpected(`a decimal mark: ${decimalMark}`, mark),
);

const groupMark = textScalar('a group mark', { examples: ['.', ' '] }, (mark) =>
  isMark(mark) ? { value: mark } : unexpected('a group mark: one character, but no digit, sign or letter', mark),
);

function isMark(mark: string): boolean {
  return mark.length === 1 && !/[\p{L}\p{N}+\-\u2212()%]/u.test(mark);
}

/** The mark alone means groups of three. */
export const group = z.union(
  [
    groupMark.transform((mark) => ({ mark, sizes: [3] as readonly number[] })),
    z.strictObject({
      mark: groupMark.describe('The mark between groups.'),
      sizes: z
        .array(z.int().min(1))
        .min(1)
        .default([3])
        .describe('Sizes of the groups from the right; the last one is repeated.'),
    }),
  ],
  { error: 'expected a group mark, or { mark, sizes }' },
);
