/**
 * The wire format of the driver push, shared by agent and emulator.
 *
 * The schemas are strict. Where the service's documentation is silent (what "no symbols" means, the unit of `time`), they
 * say what this project chose; `docs/SERVICE.md` has the reasons.
 */
import { z } from 'zod';

/** The message for a value that is missing or has the wrong type; the path is written before it. */
function mustBe(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : `must be ${what}, not ${nameOf(input)}`);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// Half a surrogate pair has no UTF-8, so it can neither be stored nor sent.
const text = z
  .string({ error: mustBe('a string') })
  .min(1, 'must not be empty')
  .refine((characters) => characters.isWellFormed(), 'must be well-formed Unicode, and holds half a surrogate pair');

/** One element of a driver's display path. */
export const pathElementSchema = text;

/** `time`: UNIX seconds, any number of digits. `value`: decimal text with an optional minus and decimal point. */
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

/** A driver without a check of its path elements and points, for a reader that checks them one by one. */
export const driverFrameSchema = z.strictObject(
  { id: text, path: listOf(z.unknown()).min(1, 'must not be empty'), timeSeries: listOf(z.unknown()) },
  { error: mustBe('an object') },
);

/** One element of `extDrivers`. Equal paths, a parent that is not a driver and an empty `timeSeries` are allowed. */
export const driverSchema = driverFrameSchema.extend({
  path: listOf(pathElementSchema).min(1, 'must not be empty'),
  timeSeries: listOf(pointSchema),
});

export const shouldDeleteMissingSchema = z.boolean({ error: mustBe('true or false') });

/** The body. `shouldDeleteMissing` is false if it is left out. */
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
