/** A kind of source: its keys in the config, and how it is opened. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { ColumnNeeds } from '../core/mapping/column-batch.ts';
import { type MappingProblem, columnNeeds } from '../core/mapping/columns.ts';
import type { Rule } from '../core/model.ts';
import type { Clock, Source } from '../core/ports.ts';
import type { LookupFiles, Mapping } from '../core/settings.ts';
import type { Naming } from './files/part-names.ts';

export interface SourceContext {
  /** The source's name in the config. */
  readonly name: string;
  /** Absolute; paths of the config are relative to it. */
  readonly baseDir: string;
  /** Default: files are named by their path relative to the config file. */
  readonly naming?: Naming | undefined;
  /** The agent's own files and directories (absolute), which no part may be or lie in, under any name. Default: none. */
  readonly forbidden?: readonly string[];
  readonly clock: Clock;
  /** The mapping of the rows and the zone whose months count: for places that collapse rows themselves. */
  readonly mapping: Mapping;
  readonly timezone: string;
  /** The state directory, where content from elsewhere is kept while it is read. Default: the system's for temporary files. */
  readonly state?: string | undefined;
  /** Who may read a large file beside the main thread. Default: nobody. */
  readonly threads?: ReadThreads;
}

/** An entry of `drivers` as a person would write it. */
export interface WrittenDriver {
  readonly id: string;
  readonly path: readonly string[];
  readonly time: string;
  readonly value: string;
  readonly collapse: Rule;
}

export interface Kind {
  /** A strict object of the kind's own keys only. Their descriptions become docs/CONFIG.md. */
  readonly schema: z.ZodType;
  /** @param kind the output of `schema`. Touches nothing: a place that is missing shows when it is read. */
  open(kind: unknown, context: SourceContext): Source;
  /** The default of `drivers`, for a kind whose columns are always the same. */
  readonly drivers?: readonly WrittenDriver[] | undefined;
  /**
   * Where one of its keys belongs that does not go with the others that are written (`to format: csv`): it is refused. `undefined`
   * for a key that does.
   */
  homeOfForeign?(key: string, written: Readonly<Record<string, unknown>>): string | undefined;
  /** The parts of a mapping that this kind, so configured, cannot do. */
  problems?(kind: unknown, mapping: Mapping, lookups: LookupFiles): readonly MappingProblem[];
}

/** Joins a schema and the `open` that takes its output: the one place that knows that the two belong together. */
export function defineKind<Schema extends z.ZodType>(
  schema: Schema,
  open: (settings: z.output<Schema>, context: SourceContext) => Source,
  more: {
    readonly drivers?: Kind['drivers'];
    readonly homeOfForeign?: Kind['homeOfForeign'];
    readonly problems?: (
      settings: z.output<Schema>,
      mapping: Mapping,
      lookups: LookupFiles,
    ) => readonly MappingProblem[];
  } = {},
): Kind {
  const { drivers, homeOfForeign, problems } = more;
  return {
    schema,
    open: (kind, context) => open(kind as z.output<Schema>, context),
    drivers,
    ...(homeOfForeign && { homeOfForeign }),
    ...(problems && { problems: (kind, mapping, lookups) => problems(kind as z.output<Schema>, mapping, lookups) }),
  };
}

/** What the mapping of a source needs of the columns of a part, for formats that give columns. */
export function needsOf({ mapping }: Pick<SourceContext, 'mapping'>): { readonly needs: ColumnNeeds } {
  return { needs: (columns) => columnNeeds(mapping, columns) };
}

/** A version that equals no other, for a place without cheap evidence of its content: the part is always read. */
export function freshVersion(): string {
  return `fresh-${randomUUID()}`;
}

export interface ReadThreads {
  readonly count: number;
  /** How much of a file is worth a thread; default: what it would read while it starts. */
  readonly bytesMin?: number;
  /** Called when a thread begins to read; what it returns is called when the thread has ended. */
  readonly begin?: () => () => void;
}
