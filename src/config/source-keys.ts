/** The keys that every source has, whatever its kind. */
import { z } from 'zod';
import type { Test } from '../core/settings.ts';
import { valueGuard } from './agent-keys.ts';
import { lookupKeys } from '../sources/lookups.ts';
import {
  anyText,
  cellText,
  comparedText,
  decimal,
  factor,
  fieldText,
  group,
  locale,
  mappedText,
  month,
  monthOfYear,
  pattern,
  poll,
  positiveDuration,
} from './scalars.ts';
import { template, text, textOrTexts, timezone } from './scalars.ts';

const testKeys = z.strictObject({
  matches: pattern.optional().describe('A regular expression, not anchored.'),
  get not(): z.ZodOptional<z.ZodType<Test>> {
    return test.optional().describe('Any of these forms, inverted.');
  },
});

const test: z.ZodType<Test> = z.union(
  [
    comparedText.transform((only): Test => ({ kind: 'oneOf', texts: [only] })),
    z
      .array(comparedText)
      .min(1)
      .transform((texts): Test => ({ kind: 'oneOf', texts })),
    testKeys.transform(({ matches, not }, context): Test => {
      if (matches !== undefined && not === undefined) return { kind: 'matches', pattern: matches };
      if (not !== undefined && matches === undefined) return { kind: 'not', test: not };
      // zod comes here even after it found an unknown key.
      if (context.issues.length > 0) return z.NEVER;
      const message = 'expected one key: matches or not';
      context.issues.push({
        code: 'custom',
        message,
        path: ['not'],
        input: not,
        params: { hint: 'nest them: { not: { matches: "…" } }' },
      });
      return z.NEVER;
    }),
  ],
  { error: 'expected a text, a list of texts, { matches: … } or { not: … }' },
);

export const sourceShape = {
  poll: poll
    .prefault('1m')
    .describe(
      "How often the source is checked for changes, whether or not events arrive; or a cron expression in the agent's `timezone`, for a source that is expensive to ask. It is also checked before a scheduled push, and at most 5 minutes after it could not be read.",
    ),
  timeout: positiveDuration.prefault('5m').describe('A read that takes longer has failed.'),
  removed: z
    .enum(['carry', 'delete'])
    .default('carry')
    .describe('What happens to the readings of a part that disappears: they are carried or deleted.'),
  history: z
    .enum(['replace', 'carry'])
    .default('replace')
    .describe(
      'With `carry`, older months stay when an export shows only recent ones. With any `collapse` but `last` the export has to begin with the first day of a month: one that begins within a month shows less of it each day, and is held.',
    ),
  guard: z
    .strictObject({
      values: valueGuard.optional().describe('As `guard.values`, for this source alone.'),
    })
    .prefault({})
    .describe('What the guard does otherwise for this source: `{ values: warn }`, with the values of `guard.values`.'),
  actuals: z
    .boolean()
    .default(false)
    .describe(
      'Whether the source holds what happened and nothing that is planned. Points later than the month after `lastClose` are then a warning.',
    ),
  mayBeEmpty: z.boolean().default(false).describe('Whether a read without any readings may be accepted.'),
  where: z
    .record(z.string(), test)
    .prefault({})
    .describe(
      'Which rows count. For each column a text, a list of texts, `{ matches: regex }` or `{ not: … }`; a row must pass all of them.',
    ),
  missing: z
    .array(cellText)
    .prefault([''])
    .describe('Texts of `value` that mean "no value": the row gives no reading and is no reject.'),
  fillDown: z
    .array(text)
    .default([])
    .describe('Columns whose empty fields take the text of the row above, as in merged cells and grouped reports.'),
  unpivot: z
    .strictObject({
      columns: pattern.describe(
        'A regular expression for the headers of the columns that become rows. Its named groups, such as `(?<month>…)`, become columns.',
      ),
      name: text.optional().describe('The new column for the header. Required unless the pattern has a named group.'),
      value: textOrTexts.describe(
        'The new column for the field. A list names several columns of one row; then the group `(?<value>…)` of a header says which of them its field belongs to.',
      ),
    })
    .optional()
    .describe('Turns wide rows into long ones before they are read.'),
  maps: z
    .record(z.string(), z.record(z.string(), mappedText))
    .prefault({})
    .describe(
      'Tables for the filter `map:NAME`: each text and its replacement, or `{ file: regions.csv }`, a file that maps its first column to its second (`from` and `to` name other columns; `delimiter` and `encoding` as in a source) and is read again with the source. White space around a text does not count when it is looked up. A text that is not in the map becomes empty.',
    ),
  fiscalYear: z
    .strictObject({
      startsIn: monthOfYear.describe('Its first month.'),
      namedAfter: z
        .enum(['start', 'end'])
        .default('end')
        .describe(
          'Whether it is named after the calendar year of its start or of its end: with `startsIn: April` and `end`, April 2024 is in FY25.',
        ),
    })
    .optional()
    .describe(
      'The fiscal year that the formats `fiscal-year`, `fiscal-quarter` and `fiscal-period` use. All other formats name calendar months, quarters and years. Default: calendar years.',
    ),
  calendar: z
    .strictObject({
      ...lookupKeys,
      file: lookupKeys.file.describe('Delimited text with the columns `period`, `start`, `end` and `month`.'),
    })
    .optional()
    .describe(
      'For 4-4-5 and similar calendars: a file of periods, each with its first day, its last day and the month (`2026-03`) that it stands for. A time that names a period, or a day within it, counts in that month.',
    ),
  tests: z
    .array(
      z.strictObject({
        rows: z
          .array(z.record(z.string(), fieldText))
          .min(1)
          .describe('Rows as the source would give them, each a mapping from column to text.'),
        readings: z
          .array(
            z.strictObject({
              driver: text.describe('Its id.'),
              month: month.describe('Such as `2026-03`.'),
              value: anyText.describe('As it is pushed.'),
              path: z.array(text).optional().describe('Its path. Left out: any path.'),
            }),
          )
          .describe('Every reading that must come out, in any order.'),
        rejects: z.int().min(0).default(0).describe('How many of the rows must be rejected.'),
      }),
    )
    .default([])
    .describe('Example rows and the readings that must come of them. `check` runs them, also with `--offline`.'),
};

/** A map in a file. */
export const mapFileShape = {
  ...lookupKeys,
  from: text.optional().describe('The column of texts. Default: the first.'),
  to: text.optional().describe('The column of their replacements. Default: the second.'),
};

/** Without `time` and `value`, which have two forms. */
export const driverShape = {
  id: template.optional().describe('Template of the id. Default: the path joined with `/`.'),
  path: z
    .array(template)
    .min(1)
    .describe('Templates of the display path, from the top.')
    .meta({ examples: [['Revenue', '{region}']] }),
  collapse: z
    .enum(['last', 'first', 'sum', 'average', 'min', 'max', 'count'])
    .default('last')
    .describe('How several readings in one month become one point.'),
  spread: z
    .enum(['repeat', 'first', 'last', 'divide'])
    .optional()
    .describe(
      'How the value of a quarter or a year is spread over its months: each gets it, only the first or the last gets it, or each gets an equal share (the shares add up exactly). Required where a format names quarters or years.',
    ),
};

export const timeShape = {
  from: template.meta({ description: 'Template of the text.', examples: ['{year} {month}'] }),
  format: textOrTexts
    .optional()
    .describe(
      '`iso`, `unix`, `unix-ms`, `fiscal-year`, `fiscal-quarter`, `fiscal-period`, `decimal-month`, `excel-serial` or Unicode tokens such as `dd.MM.yyyy`, `QQQ yyyy` (`QQQ` is `Q1`, `Q` the digit alone, `yy` 1950 to 2049); the formats of a list are tried in order. Default: ISO 8601 dates, months and date-times.',
    ),
  locale: z
    .union([locale.transform((only) => [only]), z.array(locale).min(1)], {
      error: 'expected a locale or a list of them',
    })
    .prefault('en')
    .describe('The language of month names; the languages of a list are tried in order.'),
  timezone: timezone.optional().describe("The time zone of date-times without one. Default: the agent's `timezone`."),
};

export const valueShape = {
  from: template.meta({ description: 'Template of the text.', examples: ['{amount}'] }),
  decimal: decimal
    .prefault('.')
    .describe('The decimal mark of texts. What its place stores as a number has a point in any case.'),
  group: group
    .optional()
    .describe('The mark between groups of three digits in texts, or `{ mark, sizes }`. Default: no grouping.'),
  accounting: z
    .boolean()
    .default(false)
    .describe(
      'Of texts: reads brackets and a trailing minus as negative, ignores currency signs, currency codes and `%`, and reads a lone `-` as zero. `5,-` is a reject: to some the dash means no cents.',
    ),
  scale: factor.optional().describe('Every value is multiplied by this, exactly.'),
  negate: z.boolean().default(false).describe('Reverses the sign of every value.'),
  round: z
    .int()
    .min(0)
    .max(30)
    .optional()
    .describe('Rounds every value to this many decimals, halves away from zero. Default: values stay as written.'),
};
