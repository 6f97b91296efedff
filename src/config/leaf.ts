/** Single values of the config: what a person may write, and what it means. */
import { z } from 'zod';
import { quote } from '../core/text.ts';

/** Why a value does not fit. `detail` may quote the value, `message` and what else is said may not. */
export interface Refusal {
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset?: number;
}

/** What an editor is told of a value (JSON Schema). */
export interface LeafSchema {
  readonly type: string | readonly string[];
  readonly pattern?: string;
  readonly examples?: readonly (string | number)[];
}

export type LeafResult<T> = { readonly value: T } | { readonly refused: Refusal };

export type Leaf<T> = z.ZodPipe<z.ZodUnknown, z.ZodTransform<T>>;

/** A schema for one value. `parse` sees what was written, of any type. Nothing written is for the caller to word. */
export function leaf<T>(schema: LeafSchema, parse: (written: unknown) => LeafResult<T>): Leaf<T> {
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
      const { message, ...params } = result.refused;
      context.issues.push({ code: 'custom', message, params, input: written, continue: false });
      return z.NEVER;
    })
    .meta({
      ...described,
      ...(examples && { examples: [...examples] }),
      ...(schema.pattern === undefined ? {} : { pattern: `${schema.pattern}|\\$\\{` }),
    });
}

/** A schema for a value that is written as a text; what else stands there is refused, with the hint. */
export function textLeaf<T>(
  expected: string,
  schema: Partial<LeafSchema>,
  parse: (text: string) => LeafResult<T>,
): Leaf<T> {
  return leaf({ type: 'string', ...schema }, (written) => {
    const text = textOf(written);
    return text === undefined ? refuse(expected, written) : parse(text);
  });
}

/** The text of a scalar. A plain number or boolean is the text that stands in the file: see `Written`. */
export function textOf(written: unknown): string | undefined {
  if (written === null) return 'null';
  const isScalar = typeof written === 'string' || typeof written === 'number' || typeof written === 'boolean';
  return isScalar ? String(written) : undefined;
}

export function refuse(expected: string, written: unknown, hint?: string): { readonly refused: Refusal } {
  const detail = `, found ${describeWritten(written)}`;
  return { refused: { message: `expected ${expected}`, detail, ...(hint === undefined ? {} : { hint }) } };
}

/** A value as a problem shows it. */
export function describeWritten(written: unknown): string {
  if (written === null || typeof written === 'number' || typeof written === 'boolean') return String(written);
  if (typeof written === 'string') return quote(written);
  if (Array.isArray(written)) return 'a list';
  return written === undefined ? 'nothing' : 'a mapping';
}
