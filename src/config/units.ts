/** The values that have a spelling of their own: durations, sizes, limits, marks, zones, schedules, templates. */
import { Cron } from 'croner';
import { z } from 'zod';
import { parseDecimal, plainDecimal } from '../core/numbers/decimal.ts';
import { parseDuration } from '../core/duration.ts';
import { parseMonth } from '../core/time/month.ts';
import { parsePattern } from '../core/mapping/pattern.ts';
import type { Limit, Poll } from '../core/settings.ts';
import { parseSize } from '../core/size.ts';
import { type Template, parseTemplate } from '../core/mapping/template.ts';
import { quote } from '../core/text.ts';
import { localeProblem } from '../core/time/token-time.ts';
import { isTimeZone } from '../core/time/zone.ts';
import { nearest } from './nearest.ts';
import { type Leaf, type LeafResult, leaf, refuse, textLeaf, textOf } from './leaf.ts';

/** For editors: what of YAML is taken by its source text. */
const scalarTypes = ['string', 'number', 'boolean'];

/** Any text, also an empty one. */
export const anyText = textLeaf('a text', { type: scalarTypes }, (text) => ({ value: text }));

/** A field of a row: nothing written is the empty text, as NULL is in a database. */
export const fieldText = leaf<string>({ type: [...scalarTypes, 'null'] }, (written) => {
  const said = written === null ? '' : textOf(written);
  return said === undefined ? refuse('a text', written) : { value: said };
});

export const text = textLeaf('a text', {}, (written) =>
  written.trim() === '' ? { refused: { message: 'the text is empty' } } : { value: written },
);

/** One text or several. */
export const textOrTexts = z.union([text.transform((only) => [only]), z.array(text).min(1)], {
  error: 'expected a text or a list of texts',
});

/** `2026-03` */
export const month = textLeaf('a month', { examples: ['2026-03'] }, (written) =>
  parseMonth(written.trim()) === undefined ? refuse('a month such as 2026-03', written) : { value: written.trim() },
);

/** Milliseconds. */
export const duration = durationLeaf(0);

/** Milliseconds, at least one. */
export const positiveDuration = durationLeaf(1);

/** Milliseconds, or `undefined` for `off`. */
export const durationOrOff = leaf<number | undefined>(
  { type: 'string', pattern: '^(\\d+(ms|s|m|h|d)|off)$', examples: ['30s'] },
  (written) => (written === 'off' ? { value: undefined } : readDuration(written, 0)),
);

function durationLeaf(leastMs: number): Leaf<number> {
  const schema = { type: 'string', pattern: '^\\d+(ms|s|m|h|d)$', examples: ['30s', '20h'] };
  return leaf(schema, (written) => readDuration(written, leastMs));
}

function readDuration(written: unknown, leastMs: number): LeafResult<number> {
  const ms = typeof written === 'string' ? parseDuration(written) : undefined;
  if (ms !== undefined && ms >= leastMs) return { value: ms };
  if (ms !== undefined) return refuse('a duration longer than 0s', written);
  const bare = textOf(written) ?? '';
  const hint = /^\d+$/.test(bare) ? `write ${bare}s` : 'write whole numbers with ms, s, m, h or d, such as 90m';
  return refuse('a duration such as 30s, 20h or 400d', written, hint);
}

/** Bytes. */
export const size = leaf<number>(
  { type: 'string', pattern: '^\\d+ ?([kKMGT]i?)?B$', examples: ['10GB', '512MiB'] },
  (written) => {
    const bytes = typeof written === 'string' ? parseSize(written) : undefined;
    if (bytes !== undefined) return { value: bytes };
    const bare = textOf(written) ?? '';
    const hint = /^\d+$/.test(bare) ? `write ${bare}GB` : 'write whole numbers with B, kB, MB, GB, TB, MiB or GiB';
    return refuse('a size such as 10GB or 500MB', written, hint);
  },
);

/** A share of a whole, or a count. */
export const limit = leaf<Limit>(
  { type: ['string', 'integer'], pattern: '^\\d+(\\.\\d{1,4})?%$|^\\d+$', examples: ['10%', '0.5%', 3] },
  (written) => {
    const said = (textOf(written) ?? '').trim();
    const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,4}))?\s*%$/.exec(said) ?? [];
    // 1% is 10 000 millionths: four places of a per cent are exact.
    const millionths = whole === undefined ? undefined : Number(whole) * 10_000 + Number(fraction.padEnd(4, '0'));
    if (millionths !== undefined && millionths <= 1_000_000) return { value: { kind: 'share', millionths } };
    if (/^\d{1,15}$/.test(said)) return { value: { kind: 'count', count: Number(said) } };
    return refuse('a share such as 10% or 0.5%, or a count such as 3', written);
  },
);

export const timezone = textLeaf('a time zone', { examples: ['Europe/Berlin', 'UTC'] }, (name) => {
  if (isTimeZone(name)) return { value: name };
  return refuse('an IANA time zone such as Europe/Berlin or UTC', name, nearestZone(name));
});

function nearestZone(name: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = name.split('/').at(-1)?.toLowerCase().replaceAll(' ', '_');
  const near = zones.find((zone) => zone.toLowerCase().split('/').at(-1) === city) ?? nearest(name, zones);
  return near === undefined ? undefined : `write ${near}`;
}

/** A duration, or when to look by the clock. */
export const poll = leaf<Poll>({ type: 'string', examples: ['5m', '0 6 * * *'] }, (written) => {
  if (typeof written === 'string' && /\s/.test(written.trim())) {
    const cronResult = readCron(written);
    return 'value' in cronResult ? { value: { kind: 'cron', expression: cronResult.value } } : cronResult;
  }
  const result = readDuration(written, 1);
  return 'value' in result ? { value: { kind: 'every', ms: result.value } } : result;
});

const monthNames = 'January February March April May June July August September October November December'.split(' ');

/** 1 to 12. */
export const monthOfYear = leaf<number>({ type: ['string', 'integer'], examples: ['April', 4] }, (written) => {
  const said = (textOf(written) ?? '').trim();
  const named = monthNames.findIndex((name) => said.length >= 3 && name.toLowerCase().startsWith(said.toLowerCase()));
  const number = /^\d{1,2}$/.test(said) ? Number(said) : named + 1;
  if (number >= 1 && number <= 12) return { value: number };
  return refuse('a month such as April, or 1 to 12', written);
});

export const locale = textLeaf('a locale', { examples: ['en', 'de'] }, (name) => {
  if (localeProblem(name) === undefined) return { value: name };
  return refuse('a locale of date-fns such as en, de or en-GB', name);
});

export const cron = textLeaf('a cron expression', { examples: ['15 2 * * *'] }, readCron);

function readCron(expression: string): LeafResult<string> {
  const fields = expression.trim().split(/\s+/);
  const expected = 'a cron expression of five fields, or six with seconds';
  // croner takes a text with a colon for a date, and nicknames such as @daily.
  const isPlain = fields.every((field) => /^[\w*/,?#+-]+$/.test(field));
  if (fields.length < 5 || fields.length > 6 || !isPlain) return refuse(expected, expression, 'such as "15 2 * * *"');
  try {
    // A fixed day, so that the same text is always judged alike.
    const next = new Cron(expression.trim(), { timezone: 'UTC', mode: '5-or-6-parts' }).nextRun(
      new Date(Date.UTC(2026, 0, 1)),
    );
    if (next !== null) return { value: expression.trim() };
    return { refused: { message: 'a schedule that never comes due', detail: `: ${quote(expression)}` } };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const detail = `: ${error.message.replace(/^Cron\w*: /, '')}`;
    return { refused: { message: 'not a cron expression', detail, hint: 'such as "15 2 * * *"' } };
  }
}

export const pattern = textLeaf('a regular expression', { examples: ['^\\d{4}-\\d{2}$'] }, (source) => {
  const parsed = parsePattern(source);
  if (!('problem' in parsed)) return { value: parsed };
  const { problem, hint } = parsed;
  return { refused: { message: 'bad regular expression', detail: `: ${problem}`, ...(hint ? { hint } : {}) } };
});

export const template = textLeaf(
  'a template',
  { type: scalarTypes, examples: ['revenue/{region}/{product|slug}'] },
  (written): LeafResult<Template> => {
    const parsed = parseTemplate(written);
    if ('problem' in parsed) {
      return { refused: { message: 'bad template', detail: `: ${parsed.problem}`, offset: parsed.offset } };
    }
    return written.trim() === '' ? { refused: { message: 'the template is empty' } } : { value: parsed.template };
  },
);

/** Canonical decimal text. */
export const factor = leaf<string>({ type: ['string', 'number'], examples: [1000, '0.001'] }, (written) => {
  const number = parseDecimal(textOf(written) ?? '', plainDecimal);
  if (number === undefined) return refuse('a number such as 1000 or 0.001', written);
  if (!/[1-9]/.test(number)) return { refused: { message: 'a scale of 0 makes every value 0' } };
  return { value: number };
});

/** White space is one mark whatever its kind, and so are both apostrophes (DESIGN 4, "Numbers"). */
export function sameMark(a: string, b: string): boolean {
  const plain = (mark: string): string => mark.replace(/\s/u, ' ').replace('\u2019', "'");
  return plain(a) === plain(b);
}

const decimalMark = 'one character that is no digit, sign, letter or white space';

export const decimal = textLeaf('a decimal mark', { examples: [',', '.'] }, (mark) =>
  isMark(mark) && !/\s/u.test(mark) ? { value: mark } : refuse(`a decimal mark: ${decimalMark}`, mark),
);

const groupMark = textLeaf('a group mark', { examples: ['.', ' '] }, (mark) =>
  isMark(mark) ? { value: mark } : refuse('a group mark: one character that is no digit, sign or letter', mark),
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
