/** Reads parts of the config by their schemas, each for itself: a problem in one does not hide those in others. */
import type { z } from 'zod';
import type { Written } from './document.ts';
import { leaveUnworded, placeOf, refuseKey, refuseMissing, refuseType, reportIssue } from './issues.ts';
import { textOf } from './leaf.ts';
import { homeOf } from './schema.ts';
import { type Place, isExcused, isMapping, keysAt, spotOf, within, writtenAt } from './place.ts';

export type Shape = Readonly<Record<string, z.ZodType>>;

/** What could be read. What is not there has been reported, or nothing was written and nothing stands for it. */
export type Fields<S extends Shape> = { readonly [K in keyof S]?: z.output<S[K]> };

/** The same; all of it is there where nothing was reported. */
export type Whole<S extends Shape> = Required<Fields<S>>;

/**
 * Reads the fields of a mapping one by one. A mapping that is not written has the defaults of its fields.
 * @param known further keys that belong there
 */
export function readFields<S extends Shape>(place: Place, shape: S, known: readonly string[] = []): Fields<S> {
  const written = writtenAt(place);
  if (written !== undefined && !isMapping(written)) refuseType(place, 'a mapping', written);
  if (!isMapping(written) && spotOf(place) !== undefined) return {};
  const keys = keysAt(place);
  const allowed = [...Object.keys(shape), ...known];
  for (const key of keys) if (!allowed.includes(key)) refuseKey(place, key, allowed, homeOf(key));
  const fields: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const at = within(place, key);
    const result = keys.includes(key) ? readValue(at, schema, writtenAt(at)) : readAbsent(at, schema);
    if (result !== undefined) fields[key] = result.value;
  }
  return fields as Fields<S>;
}

/** Reads one value; `undefined` where it could not be read, which has been reported. */
export function readValue<T>(place: Place, schema: z.ZodType<T>, written: Written): { value: T } | undefined {
  if (written === undefined) return undefined;
  const result = schema.safeParse(written, { error: leaveUnworded });
  if (result.success) return { value: result.data };
  const { issues } = result.error;
  const blamed = issues.filter((issue) => !isExcused(placeOf(place, issue)));
  if (blamed.length === 0) return readWithout(schema, written, issues);
  for (const issue of blamed) reportIssue(place, issue, written);
  return undefined;
}

function readAbsent<T>(place: Place, schema: z.ZodType<T>): { value: T } | undefined {
  const result = schema.safeParse(undefined);
  if (result.success) return { value: result.data };
  const examples = schema.meta()?.examples;
  refuseMissing(place, Array.isArray(examples) ? examples[0] : undefined);
  return undefined;
}

/** Reads on as if the values of these issues had been left out. */
function readWithout<T>(
  schema: z.ZodType<T>,
  written: Written,
  issues: readonly z.core.$ZodIssue[],
): { value: T } | undefined {
  const keys = new Set(issues.map(({ path }) => path[0]));
  const rest = isMapping(written)
    ? Object.fromEntries(Object.entries(written).filter(([key]) => !keys.has(key)))
    : undefined;
  const result = schema.safeParse(rest);
  return result.success ? { value: result.data } : undefined;
}

/** `written` with every plain number and boolean as its source text where a schema wants a text. */
export function withTexts(schema: z.ZodType, written: Written): Written {
  const wanted = (schema.safeParse(written).error?.issues ?? []).filter(
    (issue) => issue.code === 'invalid_type' && issue.expected === 'string' && issue.path.length > 0,
  );
  return wanted.reduce((value, { path }) => replaceAt(value, path, (scalar) => textOf(scalar) ?? scalar), written);
}

function replaceAt(value: Written, path: readonly PropertyKey[], replace: (scalar: Written) => Written): Written {
  const [step, ...rest] = path;
  if (step === undefined) return replace(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaceAt(item, rest, replace) : item));
  if (!isMapping(value) || typeof step !== 'string') return value;
  return { ...value, [step]: replaceAt(value[step], rest, replace) };
}
