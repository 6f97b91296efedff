/**
 * The wire of area B: how drivers are pushed (SPEC part B, B1). What agent and emulator agree on, and nothing else.
 *
 * The schemas are strict. Where SPEC leaves a choice (what "no symbols" means, which unit `time` has) they say what this
 * project chose.
 */
import { z } from 'zod';

/** Appended to `{drivers_url}`. Only POST. */
export const updatePath = '/api/extDrivers/update';

/** Names what is missing or of the wrong type, for a message that stands behind a path. */
function mustBe(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : `must be ${what}, not ${nameOf(input)}`);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// Half a surrogate pair has no UTF-8: it could neither be kept nor sent on.
const text = z
  .string({ error: mustBe('a string') })
  .min(1, 'must not be empty')
  .refine((characters) => characters.isWellFormed(), 'must be well-formed Unicode, and holds half a surrogate pair');

/** One element of a driver's display path. */
export const pathElementSchema = text;

/** `time`: UNIX seconds, any number of digits. `value`: decimal text; a sign and a decimal point are no "symbols". */
export const pointSchema = z.strictObject(
  {
    time: z
      .string({ error: mustBe('a string') })
      .regex(/^-?\d+$/, 'must be UNIX seconds: digits, with or without a minus'),
    value: z
      .string({ error: mustBe('a string') })
      .regex(/^-?\d+(\.\d+)?$/, 'must be a plain number such as "-12.50": no plus, exponent, grouping or symbol'),
  },
  { error: mustBe('an object') },
);

function listOf<Element extends z.ZodType>(element: Element): z.ZodArray<Element> {
  return z.array(element, { error: mustBe('an array') });
}

/** A driver of which path elements and points are yet to be checked, by whoever wants to stop at the first bad ones. */
export const driverFrameSchema = z.strictObject(
  { id: text, path: listOf(z.unknown()).min(1, 'must not be empty'), timeSeries: listOf(z.unknown()) },
  { error: mustBe('an object') },
);

/** One element of `extDrivers`. Equal paths, a parent that is no driver and an empty `timeSeries` are allowed. */
export const driverSchema = driverFrameSchema.extend({
  path: listOf(pathElementSchema).min(1, 'must not be empty'),
  timeSeries: listOf(pointSchema),
});

export const shouldDeleteMissingSchema = z.boolean({ error: mustBe('true or false') });

/** The body. `shouldDeleteMissing` is false where it is left out. */
export const updateSchema = z.strictObject(
  {
    shouldDeleteMissing: shouldDeleteMissingSchema.optional(),
    extDrivers: listOf(driverSchema),
  },
  { error: mustBe('an object') },
);

export type Point = z.infer<typeof pointSchema>;
export type Driver = z.infer<typeof driverSchema>;
export type Update = z.infer<typeof updateSchema>;
