/**
 * Reads values of the config by their schemas, one by one, so that one mistake hides no other; and puts what a schema found wrong
 * into words for the person who wrote the config.
 */
import { z } from 'zod';
import { quote } from '../core/text.ts';
import { type Cursor, isExcused, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import type { Path } from './diagnostics.ts';
import type { Written } from './document.ts';
import { homeOf } from './json-schema.ts';
import { nearest } from '../core/nearest.ts';
import { type ScalarDiagnostic, describeWritten, nullHint, textOf } from './scalars.ts';

export type Shape = Readonly<Record<string, z.ZodType>>;

/** The fields that could be read. A missing one was reported, or is optional and not written. */
export type Fields<S extends Shape> = { readonly [K in keyof S]?: z.output<S[K]> };

/** For fields that are all there unless something was reported. */
export type Whole<S extends Shape> = Required<Fields<S>>;

/**
 * Reads the fields of a mapping one by one. A mapping that is not written has the defaults of its fields.
 * @param known further keys that belong there
 */
export function readFields<S extends Shape>(cursor: Cursor, shape: S, known: readonly string[] = []): Fields<S> {
  const written = writtenAt(cursor);
  if (written !== undefined && !isMapping(written)) reportType(cursor, 'a mapping', written);
  if (!isMapping(written) && spotOf(cursor) !== undefined) return {};
  const keys = keysAt(cursor);
  const allowed = [...Object.keys(shape), ...known];
  for (const key of keys) if (!allowed.includes(key)) reportUnknownKey(cursor, key, allowed, homeOf(key));
  const fields: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const at = within(cursor, key);
    const result = keys.includes(key) ? readValue(at, schema, writtenAt(at)) : readAbsent(at, schema);
    if (result !== undefined) fields[key] = result.value;
  }
  return fields as Fields<S>;
}

/** Reads one value; `undefined` where it could not be read, which has been reported. */
export function readValue<T>(cursor: Cursor, schema: z.ZodType<T>, written: Written): { value: T } | undefined {
  if (written === undefined) return undefined;
  const result = schema.safeParse(written, { error: leaveUnworded, jitless: true });
  if (result.success) return { value: result.data };
  const { issues } = result.error;
  const blamed = issues.filter((issue) => !isExcused(cursorOf(cursor, issue)));
  if (blamed.length === 0) return readWithout(schema, written, issues);
  for (const issue of blamed) reportIssue(cursor, issue, written);
  return undefined;
}

function readAbsent<T>(cursor: Cursor, schema: z.ZodType<T>): { value: T } | undefined {
  const result = schema.safeParse(undefined, { jitless: true });
  if (result.success) return { value: result.data };
  const examples = schema.meta()?.examples;
  reportMissing(cursor, Array.isArray(examples) ? examples[0] : undefined);
  return undefined;
}

/** Reads again without the values of these issues. */
function readWithout<T>(
  schema: z.ZodType<T>,
  written: Written,
  issues: readonly z.core.$ZodIssue[],
): { value: T } | undefined {
  const keys = new Set(issues.map(({ path }) => path[0]));
  const rest = isMapping(written)
    ? Object.fromEntries(Object.entries(written).filter(([key]) => !keys.has(key)))
    : undefined;
  const result = schema.safeParse(rest, { jitless: true });
  return result.success ? { value: result.data } : undefined;
}

/** `written`, where numbers and booleans become their source text if the schema wants a text. */
export function withTexts(schema: z.ZodType, written: Written): Written {
  const wanted = (schema.safeParse(written, { jitless: true }).error?.issues ?? []).filter(
    (issue) => issue.code === 'invalid_type' && issue.expected === 'string' && issue.path.length > 0,
  );
  return wanted.reduce(
    (value, { path }) => replaceAt(value, path, (scalar) => (scalar === null ? scalar : (textOf(scalar) ?? scalar))),
    written,
  );
}

function replaceAt(value: Written, path: readonly PropertyKey[], replace: (scalar: Written) => Written): Written {
  const [step, ...rest] = path;
  if (step === undefined) return replace(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaceAt(item, rest, replace) : item));
  if (!isMapping(value) || typeof step !== 'string') return value;
  return { ...value, [step]: replaceAt(value[step], rest, replace) };
}

type Issue = z.core.$ZodIssue;

/** The message of issues for which this file writes the words, and not their schema. */
const unworded = '\u0000';

const wordedHere = new Set([
  'invalid_type',
  'invalid_value',
  'too_small',
  'too_big',
  'unrecognized_keys',
  'invalid_union',
]);

/** For `safeParse`, where `reportIssue` gets the issues. An issue of unknown keys also gets the known ones. */
function leaveUnworded(issue: z.core.$ZodRawIssue): string | undefined {
  if (!wordedHere.has(issue.code ?? '')) return undefined;
  const keys = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  return unworded + keys.join(unworded);
}

function cursorOf(cursor: Cursor, issue: Issue): Cursor {
  return within(cursor, ...issue.path.filter((step): step is string | number => typeof step !== 'symbol'));
}

/** @param cursor where the schema was applied @param given what it was applied to */
function reportIssue(cursor: Cursor, issue: Issue, given: Written): void {
  const at = cursorOf(cursor, issue);
  if (issue.path.length > 0 && isExcused(at)) return;
  const isThere = issue.path.length === 0 || spotOf(at) !== undefined;
  const written = issue.path.length === 0 ? given : writtenAt(at);
  if (issue.code === 'invalid_union' && isThere) reportUnion(at, issue, written);
  else if (!isThere && wordedHere.has(issue.code)) reportMissing(at);
  else if (!issue.message.startsWith(unworded)) reportWorded(at, issue);
  else reportUnworded(at, issue, written);
}

function reportWorded(at: Cursor, issue: Issue): void {
  const params: Partial<ScalarDiagnostic> = issue.code === 'custom' ? (issue.params ?? {}) : {};
  const { detail, hint, offset } = params;
  const spot = spotOf(at);
  const verbatim = spot?.verbatimOffset;
  at.report({
    path: at.path,
    on: spot === undefined ? 'missing' : 'value',
    message: issue.message,
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    ...(offset === undefined || verbatim === undefined ? {} : { at: verbatim + offset }),
  });
}

function reportUnworded(at: Cursor, issue: Issue, written: Written): void {
  const { path, report } = at;
  switch (issue.code) {
    case 'invalid_type':
      reportType(at, typeWords[issue.expected] ?? 'another type of value', written);
      return;
    case 'invalid_value': {
      const near = typeof written === 'string' ? nearest(written, issue.values.map(String)) : undefined;
      const detail = `, found ${describeWritten(written)}`;
      const hint = near === undefined ? {} : { hint: `did you mean "${near}"?` };
      report({ path, message: `expected ${oneOf(issue.values.map(String))}`, detail, ...hint });
      return;
    }
    case 'too_small':
      if (issue.origin === 'array') report({ path, message: 'the list is empty' });
      else if (issue.origin === 'string') report({ path, message: 'the text is empty' });
      else
        report({ path, message: `expected at least ${issue.minimum}`, detail: `, found ${describeWritten(written)}` });
      return;
    case 'too_big':
      report({ path, message: `expected at most ${issue.maximum}`, detail: `, found ${describeWritten(written)}` });
      return;
    case 'unrecognized_keys': {
      const known = issue.message.split(unworded).slice(1);
      for (const key of issue.keys) reportUnknownKey(at, key, known);
      return;
    }
    default:
      report({ path, message: issue.message });
  }
}

/** In quotes, since a word such as `expected` may be one of them. */
function oneOf(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** Reports on the form that the value's type suggests, where a value may have several. */
function reportUnion(at: Cursor, issue: z.core.$ZodIssueInvalidUnion, written: Written): void {
  const isCollection = typeof written === 'object' && written !== null;
  const forms = issue.errors.filter((form) =>
    form.every(
      ({ path, code }) => path.length > 0 || (code !== 'invalid_type' && (code !== 'custom' || !isCollection)),
    ),
  );
  const [form] = forms;
  if (form !== undefined && forms.length === 1) for (const inner of form) reportIssue(at, inner, written);
  else {
    const message = issue.message.startsWith(unworded) ? 'not a value that fits here' : issue.message;
    at.report({ path: at.path, message, detail: `, found ${describeWritten(written)}` });
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

export function reportType({ path, report }: Cursor, expected: string, written: Written): void {
  const detail = `, found ${describeWritten(written)}`;
  const hint = typeHint(path, expected, written);
  report({ path, message: `expected ${expected}`, detail, ...(hint === undefined ? {} : { hint }) });
}

const listsOfMappings = new Set(['notify', 'drivers', 'tests', 'rows', 'readings']);

function typeHint(path: Path, expected: string, written: Written): string | undefined {
  const isCollection = typeof written === 'object' && written !== null;
  if (expected === 'a list' && listsOfMappings.has(String(path.at(-1))))
    return 'write each entry on a line of its own, behind "- "';
  if (expected === 'a list' && !isCollection) return 'write a list in brackets, such as ["…"]';
  if (expected === 'a text' && written === null) return nullHint;
  if (expected === 'a text' && isMapping(written)) return 'quote a text that has braces or ": " in it';
  const text = textOf(written) ?? '';
  const isTable = path.at(-1) === 'calendar' || path.at(-2) === 'maps';
  if (expected === 'a mapping' && isTable && /^[^{}\n]+\.\w{1,5}$/.test(text))
    return `if it is a file, write { file: ${text} }`;
  if (expected.endsWith('number') && /^\d+e\d$/i.test(text)) return `write ${Number(text)}`;
  if (expected.endsWith('number') && /^\d+$/.test(text)) return `write ${Number(text)}, without quotes`;
  if (expected === 'true or false' && /^(true|false)$/i.test(text))
    return `write ${text.toLowerCase()}, without quotes`;
  return undefined;
}

function meantBy(key: string, known: readonly string[], home: string | undefined): string {
  // A secret that stands in the config elsewhere.
  if (known.includes(`${key}File`)) return `name a file that holds it: ${key}File`;
  if (home !== undefined) return `${quote(key)} belongs ${home}`;
  const near = nearest(key, known);
  return near === undefined ? `known here: ${known.join(', ')}` : `did you mean "${near}"?`;
}

/** @param home where the key would be right */
export function reportUnknownKey({ path, report }: Cursor, key: string, known: readonly string[], home?: string): void {
  const hint = meantBy(key, known, home);
  report({ path: [...path, key], on: 'key', message: `unknown key ${quote(key)}`, hint });
}

export function reportMissing({ path, report }: Cursor, example?: unknown): void {
  const key = String(path.at(-1));
  const hint = example === undefined ? {} : { hint: `for example ${key}: ${showExample(example)}` };
  report({ path, on: 'missing', message: `"${key}" is missing`, ...hint });
}

function showExample(example: unknown): string {
  return typeof example === 'string' && /^[\w:/.]+$/.test(example) ? example : JSON.stringify(example);
}
