/** The keys that every source has, whatever its kind. */
import { z } from 'zod';
import type { Test } from '../core/settings.ts';
import { lookupKeys } from '../sources/lookups.ts';
import {
  anyText,
  decimal,
  factor,
  fieldText,
  group,
  locale,
  month,
  monthOfYear,
  pattern,
  poll,
  positiveDuration,
} from './units.ts';
import { template, text, textOrTexts, timezone } from './units.ts';

const testKeys = z.strictObject({
  matches: pattern.optional().describe('A regular expression, not anchored.'),
  get not(): z.ZodOptional<z.ZodType<Test>> {
    return test.optional().describe('Any of these forms; it holds where that one does not.');
  },
});

const test: z.ZodType<Test> = z.union(
  [
    anyText.transform((only): Test => ({ kind: 'oneOf', texts: [only] })),
    z
      .array(anyText)
      .min(1)
      .transform((texts): Test => ({ kind: 'oneOf', texts })),
    testKeys.transform(({ matches, not }, context): Test => {
      if (matches !== undefined && not === undefined) return { kind: 'matches', pattern: matches };
      if (not !== undefined && matches === undefined) return { kind: 'not', test: not };
      // An unknown key alone does not stop zod from coming here.
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
      "How often the source is looked at again, events or not; or a cron expression in the agent's `timezone` for one that is dear to ask. A scheduled push looks at it too, and one that could not be read is looked at again after 5 minutes at the latest.",
    ),
  timeout: positiveDuration.prefault('5m').describe('A read that takes longer has failed.'),
  removed: z
    .enum(['carry', 'delete'])
    .default('carry')
    .describe('What becomes of a part that disappears: its readings are carried, or deleted.'),
  history: z
    .enum(['replace', 'carry'])
    .default('replace')
    .describe('With `carry`, an export that shows only recent months does not delete the older ones.'),
  mayBeEmpty: z
    .boolean()
    .default(false)
    .describe('Whether a read without readings may be accepted, also after one that had some.'),
  where: z
    .record(z.string(), test)
    .prefault({})
    .describe(
      'Which rows count, by column: a text, a list of texts, `{ matches: regex }` or `{ not: … }`. All must hold.',
    ),
  missing: z
    .array(anyText)
    .prefault([''])
    .describe('Texts of `value` that mean "no value": neither a reading nor a reject.'),
  fillDown: z
    .array(text)
    .default([])
    .describe(
      'Columns whose empty fields take the text of the row above, as merged cells and grouped reports have them.',
    ),
  unpivot: z
    .strictObject({
      columns: pattern.describe(
        'A regular expression: the columns that become rows. Its named groups, such as `(?<month>…)`, become columns.',
      ),
      name: text.optional().describe('The new column that holds the header of each. Needed where no group is named.'),
      value: textOrTexts.describe(
        'The new column that holds its field. A list names several, in one long row; the group `(?<value>…)` of a header says which one its field is.',
      ),
    })
    .optional()
    .describe('Turns wide rows into long ones before they are read.'),
  maps: z
    .record(z.string(), z.record(z.string(), anyText))
    .prefault({})
    .describe(
      'Tables for the filter `map:NAME`: a text and what it becomes, or `{ file: regions.csv }`, a file whose first column becomes its second (or `from` and `to` name the columns; `delimiter` and `encoding` as in a source), read anew with the source. A text that is not in a map comes out empty.',
    ),
  fiscalYear: z
    .strictObject({
      startsIn: monthOfYear.describe('Its first month.'),
      namedAfter: z
        .enum(['start', 'end'])
        .default('end')
        .describe('Which of its two calendar years it is named after: with `end`, April 2024 is in FY25.'),
    })
    .optional()
    .describe(
      'What the formats `fiscal-year`, `fiscal-quarter` and `fiscal-period` count from; all others name calendar months, quarters and years. Default: calendar years.',
    ),
  calendar: z
    .strictObject({
      ...lookupKeys,
      file: lookupKeys.file.describe('Delimited text with the columns `period`, `start`, `end` and `month`.'),
    })
    .optional()
    .describe(
      'For 4-4-5 and its relatives: a file of periods, each with its first and last day and the month (`2026-03`) that it counts as. A time that is a period by name, or a day in one, counts in that month.',
    ),
  tests: z
    .array(
      z.strictObject({
        rows: z
          .array(z.record(z.string(), fieldText))
          .min(1)
          .describe('Rows as the source would give them, by column.'),
        readings: z
          .array(
            z.strictObject({
              driver: text.describe('Its id.'),
              month: month.describe('Such as `2026-03`.'),
              value: anyText.describe('As it is pushed.'),
              path: z.array(text).optional().describe('Its path, where that matters.'),
            }),
          )
          .describe('Every reading that has to come out, in any order.'),
        rejects: z.int().min(0).default(0).describe('How many of the rows are rejected.'),
      }),
    )
    .default([])
    .describe('Rows in, readings out: run by `check`, also with `--offline`.'),
};

/** A map that stands in a file. */
export const mapFileShape = {
  ...lookupKeys,
  from: text.optional().describe('The column of texts. Default: the first.'),
  to: text.optional().describe('The column of what they become. Default: the second.'),
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
      'What becomes of the value of a quarter or a year: each of its months has it, the first or the last one has it, or each has an equal share (they add up exactly). Needed where a format names quarters or years.',
    ),
};

export const timeShape = {
  from: template.meta({ description: 'Template of the text.', examples: ['{year} {month}'] }),
  format: textOrTexts
    .optional()
    .describe(
      '`iso`, `unix`, `unix-ms`, `fiscal-year`, `fiscal-quarter`, `fiscal-period`, `decimal-month`, `excel-serial` or Unicode tokens such as `dd.MM.yyyy`, `QQQ yyyy`; a list is tried in its order. Default: ISO 8601 dates, months and date-times.',
    ),
  locale: z
    .union([locale.transform((only) => [only]), z.array(locale).min(1)], {
      error: 'expected a locale or a list of them',
    })
    .prefault('en')
    .describe('The language of month names, or several that are tried in their order.'),
  timezone: timezone.optional().describe("The zone of date-times that name none. Default: the agent's `timezone`."),
};

export const valueShape = {
  from: template.meta({ description: 'Template of the text.', examples: ['{amount}'] }),
  decimal: decimal.prefault('.').describe('The decimal mark.'),
  group: group.optional().describe('The mark between groups of three, or `{ mark, sizes }`. Default: no grouping.'),
  accounting: z
    .boolean()
    .default(false)
    .describe(
      'Whether to read brackets and a trailing minus as negative, and to allow currency signs and codes, `%` and a lone `-` for zero.',
    ),
  scale: factor.optional().describe('Every value is multiplied by this, exactly.'),
  negate: z.boolean().default(false).describe('Whether to turn the sign of every value.'),
  round: z
    .int()
    .min(0)
    .max(30)
    .optional()
    .describe(
      'Digits after the point that every value is rounded to, half away from zero. Default: values stay as written.',
    ),
};
