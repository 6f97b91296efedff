/** What a schema found wrong, in words for the person who wrote the config. */
import { z } from 'zod';
import type { Written } from './document.ts';
import { quote } from '../core/text.ts';
import { type Refusal, describeWritten, textOf } from './leaf.ts';
import { nearest } from './nearest.ts';
import { type Place, isExcused, isMapping, spotOf, within, writtenAt } from './place.ts';

type Issue = z.core.$ZodIssue;

/** Issues that are worded here, and not by their schema, carry this instead of a message. */
const unworded = '\u0000';

const wordedHere = new Set([
  'invalid_type',
  'invalid_value',
  'too_small',
  'too_big',
  'unrecognized_keys',
  'invalid_union',
]);

/** For `safeParse`, if the issues go to `reportIssue`. A strict object's issue is given its keys, which it lacks. */
export function leaveUnworded(issue: z.core.$ZodRawIssue): string | undefined {
  if (!wordedHere.has(issue.code ?? '')) return undefined;
  const keys = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  return unworded + keys.join(unworded);
}

/** The place an issue is about. */
export function placeOf(place: Place, issue: Issue): Place {
  return within(place, ...issue.path.filter((step): step is string | number => typeof step !== 'symbol'));
}

/** @param place where the schema was applied @param given what it was applied to */
export function reportIssue(place: Place, issue: Issue, given: Written): void {
  const at = placeOf(place, issue);
  if (issue.path.length > 0 && isExcused(at)) return;
  const isThere = issue.path.length === 0 || spotOf(at) !== undefined;
  const written = issue.path.length === 0 ? given : writtenAt(at);
  if (issue.code === 'invalid_union' && isThere) reportUnion(at, issue, written);
  else if (!isThere && wordedHere.has(issue.code)) refuseMissing(at);
  else if (!issue.message.startsWith(unworded)) reportWorded(at, issue);
  else reportUnworded(at, issue, written);
}

function reportWorded(at: Place, issue: Issue): void {
  const params: Partial<Refusal> = issue.code === 'custom' ? (issue.params ?? {}) : {};
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

function reportUnworded(at: Place, issue: Issue, written: Written): void {
  const { path, report } = at;
  switch (issue.code) {
    case 'invalid_type':
      refuseType(at, typeWords[issue.expected] ?? 'another type of value', written);
      return;
    case 'invalid_value': {
      const near = typeof written === 'string' ? nearest(written, issue.values.map(String)) : undefined;
      const detail = `, found ${describeWritten(written)}`;
      const hint = near === undefined ? {} : { hint: `did you mean "${near}"?` };
      report({ path, message: `expected ${issue.values.map(String).join(' or ')}`, detail, ...hint });
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
      for (const key of issue.keys) refuseKey(at, key, known);
      return;
    }
    default:
      report({ path, message: issue.message });
  }
}

/** Of the forms that a value may have, the one that its type speaks for. */
function reportUnion(at: Place, issue: z.core.$ZodIssueInvalidUnion, written: Written): void {
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

export function refuseType({ path, report }: Place, expected: string, written: Written): void {
  const detail = `, found ${describeWritten(written)}`;
  const hint = typeHint(expected, written);
  report({ path, message: `expected ${expected}`, detail, ...(hint === undefined ? {} : { hint }) });
}

function typeHint(expected: string, written: Written): string | undefined {
  const isCollection = typeof written === 'object' && written !== null;
  if (expected === 'a list' && !isCollection) return 'write a list in brackets, such as ["…"]';
  if (expected === 'a text' && isMapping(written)) return 'quote a text that has braces or ": " in it';
  const text = textOf(written) ?? '';
  if (expected === 'a mapping' && /^[^{}\n]+\.\w{1,5}$/.test(text)) return `if it is a file, write { file: ${text} }`;
  if (expected.endsWith('number') && /^\d+$/.test(text)) return `write ${Number(text)}, without quotes`;
  if (expected === 'true or false' && /^(true|false)$/i.test(text))
    return `write ${text.toLowerCase()}, without quotes`;
  return undefined;
}

/** @param home where the key would be right */
export function refuseKey({ path, report }: Place, key: string, known: readonly string[], home?: string): void {
  const near = nearest(key, known);
  const meant = near === undefined ? `known here: ${known.join(', ')}` : `did you mean "${near}"?`;
  const hint = home === undefined ? meant : `${quote(key)} belongs ${home}`;
  report({ path: [...path, key], on: 'key', message: `unknown key ${quote(key)}`, hint });
}

export function refuseMissing({ path, report }: Place, example?: unknown): void {
  const key = String(path.at(-1));
  const hint = example === undefined ? {} : { hint: `for example ${key}: ${showExample(example)}` };
  report({ path, on: 'missing', message: `"${key}" is missing`, ...hint });
}

function showExample(example: unknown): string {
  return typeof example === 'string' && /^[\w:/.]+$/.test(example) ? example : JSON.stringify(example);
}
