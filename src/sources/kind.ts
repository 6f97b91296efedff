/** What a kind of source is: its keys in the config, and how it is opened. */
import type { z } from 'zod';
import type { Clock, Source } from '../core/ports.ts';

export interface SourceContext {
  /** The source's name in the config. */
  readonly name: string;
  /** Absolute; paths of the config and names of parts are relative to it. */
  readonly baseDir: string;
  readonly clock: Clock;
}

export interface Kind {
  /** A strict object of the kind's own keys only. Their descriptions become docs/CONFIG.md. */
  readonly schema: z.ZodType;
  /** `kind` is what `schema` made of the keys. Touches nothing: what is wrong with the place shows when it is read. */
  open(kind: unknown, context: SourceContext): Source;
}

/** Joins a schema and the `open` that takes what it makes: the one place that knows that the two belong together. */
export function defineKind<Schema extends z.ZodType>(
  schema: Schema,
  open: (settings: z.output<Schema>, context: SourceContext) => Source,
): Kind {
  return { schema, open: (kind, context) => open(kind as z.output<Schema>, context) };
}
