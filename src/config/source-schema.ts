/** The keys that every source has, whatever its kind. */
import { z } from 'zod';
import type { Test } from '../core/settings.ts';
import { anyText, decimal, factor, group, locale, pattern, positiveDuration } from './units.ts';
import { template, text, timezone } from './units.ts';

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
  poll: positiveDuration.prefault('1m').describe('How often the source is looked at again, events or not.'),
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
  unpivot: z
    .strictObject({
      columns: pattern.describe('A regular expression: the columns that become rows.'),
      name: text.describe('The new column that holds the header of each.'),
      value: text.describe('The new column that holds its field.'),
    })
    .optional()
    .describe('Turns wide rows into long ones before they are read.'),
  maps: z
    .record(z.string(), z.record(z.string(), anyText))
    .prefault({})
    .describe(
      'Tables for the filter `map:NAME`: a text and what it becomes. A text that is not in a map comes out empty.',
    ),
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
};

const formats = z.union([text.transform((only) => [only]), z.array(text).min(1)], {
  error: 'expected a format or a list of formats',
});

export const timeShape = {
  from: template.meta({ description: 'Template of the text.', examples: ['{year} {month}'] }),
  format: formats
    .optional()
    .describe(
      '`iso`, `unix`, `unix-ms` or Unicode tokens such as `dd.MM.yyyy`; a list is tried in its order. Default: ISO 8601 dates, months and date-times.',
    ),
  locale: locale.default('en').describe('The language of month names.'),
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
};
