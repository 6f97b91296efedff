/** One query of a database as a source, for every engine alike. An engine says only how its rows become texts. */
import { z } from 'zod';
import { AgentError } from '../../core/errors.ts';
import { answerVersion } from '../../core/guard/answer-version.ts';
import type { MappingProblem } from '../../core/mapping/columns.ts';
import { type Batch, isNumberTold } from '../../core/mapping/column-batch.ts';
import { asColumns } from '../../core/mapping/row-coder.ts';
import type { Content, Part, Row, RowBatch } from '../../core/model.ts';
import type { Source } from '../../core/ports.ts';
import type { LookupFiles, Mapping } from '../../core/settings.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import { type SourceContext, freshVersion, needsOf } from '../kind.ts';
import { binaryNote, isBinaryNumber } from './binary-columns.ts';
import { type CollapseRequest, pushdownProblems } from './collapse-plan.ts';
import type { CollapseQuery } from './collapse-query.ts';
import { numberColumns } from '../formats/field-numbers.ts';
import type { Connection, QueryColumn } from './connection.ts';
import { RowHash } from './row-hash.ts';

const partName = 'query';
/** Longest answer of `changed`: a longer one is not cheap. */
const answerRowsMax = 1000;
const answerCharsMax = 1_000_000;

/** The keys of every database; their place comes beside them. */
export const queryKeys = {
  query: z
    .string()
    .min(1)
    .describe(
      'One statement that only reads. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text; every value arrives as text with all its digits.',
    ),
  changed: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A cheap query, such as SELECT max(updated_at), count(*) FROM t: the query runs again when its answer is another one. Without it the query runs at every poll, and its rows are compared.',
    ),
  pushdown: z
    .boolean()
    .default(false)
    .describe(
      'Whether the database collapses the rows: one row per key and month leaves it, with the same result as without. `time` and `value` are columns of such types: a date or timestamp, and an exact number.',
    ),
};

export type QuerySettings = z.output<z.ZodObject<typeof queryKeys>>;

/** A database in its place. */
export interface Engine {
  /** Absent where the engine has no types to collapse by. @throws AgentError `part.unreadable` */
  readonly collapse?: (request: CollapseRequest, connection: Connection) => CollapseQuery | Promise<CollapseQuery>;
  /** The place, for messages: a file, or an address without its password. */
  readonly place: string;
  /**
   * @param signal ends the connection and whatever it does
   * @throws AgentError `source.unreadable` where the place cannot be seen
   */
  connect(signal: AbortSignal): Promise<Connection>;
  /** There may be replicas of it. */
  readonly isServer?: boolean;
  /** A version that needs no query, such as a file's times. Used by sources without `changed`. */
  version?(signal: AbortSignal): Promise<Revision>;
}

export type Revision = Pick<Part, 'version' | 'revisedAtMs'>;

/** For `defineKind`: settings that a database cannot collapse by. */
export function queryProblems(
  settings: QuerySettings,
  mapping: Mapping,
  lookups: LookupFiles,
): readonly MappingProblem[] {
  if (!settings.pushdown) return [];
  const message = 'a database that collapses knows only calendar months';
  const hint = 'leave pushdown out, or join the calendar in the query';
  return [
    ...(lookups.calendar === undefined ? [] : [{ path: ['calendar'], message, hint }]),
    ...pushdownProblems(mapping),
  ];
}

/** The one part of a database: the rows of `query`. A kind that can watch its place adds `watch`. */
export function querySource(engine: Engine, settings: QuerySettings, context: SourceContext): Source {
  const query = new Query(engine, settings, context);
  return {
    isExpensive: engine.version === undefined,
    mayLag: engine.isServer === true,
    parts: async (signal) => [{ name: partName, ...(await reasoned(signal, () => query.look(signal))) }],
    rows: (_part, signal) => asColumns(query.read(signal), needsOf(context)),
    warnings: () => query.warnings(),
  };
}

/** After an abort, failures of the place follow from it: the abort's own reason is thrown instead. */
async function reasoned<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The batches of a database while nothing aborts the read. */
async function* given<End>(
  batches: AsyncGenerator<Batch, End, void>,
  signal: AbortSignal,
): AsyncGenerator<Batch, End, void> {
  try {
    for (;;) {
      const next = await reasoned(signal, () => batches.next());
      if (next.done === true) return next.value;
      yield next.value;
      signal.throwIfAborted();
    }
  } finally {
    await batches.return(undefined as never);
  }
}

class Query {
  readonly #engine: Engine;
  readonly #settings: QuerySettings;
  readonly #context: SourceContext;
  /** Those that values were read from last. */
  #binaryColumns: readonly QueryColumn[] = [];
  /** The newest answer of `changed`, and when it first came: a database does not say when it was revised. */
  #heard: Revision | undefined;

  constructor(engine: Engine, settings: QuerySettings, context: SourceContext) {
    this.#engine = engine;
    this.#settings = settings;
    this.#context = context;
  }

  warnings(): readonly string[] {
    return this.#binaryColumns.map(binaryNote);
  }

  async look(signal: AbortSignal): Promise<Revision> {
    const revision = await this.#version(signal);
    if (revision !== undefined) return revision;
    const connection = await this.#engine.connect(signal);
    try {
      return await this.#ask(connection);
    } finally {
      await connection.close();
    }
  }

  async *read(signal: AbortSignal): AsyncGenerator<Batch | RowBatch, Content, void> {
    // Before the rows: if they change meanwhile, this version is too old, which only costs another look.
    const ofPlace = await reasoned(signal, () => this.#version(signal));
    const connection = await reasoned(signal, () => this.#engine.connect(signal));
    try {
      // In the transaction of the rows: the version of exactly their content.
      const revision = ofPlace ?? (await reasoned(signal, () => this.#ask(connection)));
      const { sql, columns, numbers, batches } = await reasoned(signal, () => this.#prepare(connection));
      if (!this.#settings.pushdown && connection.batches !== undefined) {
        const wanted = { columns, needs: needsOf(this.#context).needs(columns) };
        return { hash: yield* given(connection.batches(sql, wanted), signal), ...revision };
      }
      const isOrdered = !this.#settings.pushdown;
      const hash = new RowHash({ place: this.#engine.place, columns, isOrdered, ...(numbers && { numbers }) });
      const results = connection.rows(sql);
      try {
        let isFirst = true;
        for (;;) {
          const next = await reasoned(signal, () => results.next());
          if (next.done === true && !isFirst) break;
          const rows = next.done === true ? [] : next.value;
          hash.add(rows);
          for (const batch of batches(rows)) {
            yield batch;
            signal.throwIfAborted();
          }
          isFirst = false;
          if (next.done === true) break;
        }
      } finally {
        await results.return();
      }
      return { hash: hash.digest(), ...revision, files: connection.files?.() };
    } finally {
      await connection.close();
    }
  }

  /** The version that the place itself gives, unless `changed` asks for one. */
  async #version(signal: AbortSignal): Promise<Revision | undefined> {
    return this.#settings.changed === undefined ? await this.#engine.version?.(signal) : undefined;
  }

  /** The answer of `changed`, as a version. */
  async #ask(connection: Connection): Promise<Revision> {
    const { changed } = this.#settings;
    if (changed === undefined) return { version: freshVersion(), revisedAtMs: this.#nowMs() };
    const answer = await this.#answerOf(connection, changed);
    const version = answerVersion(answer);
    if (this.#heard?.version !== version) this.#heard = { version, revisedAtMs: this.#nowMs() };
    return this.#heard;
  }

  async #answerOf(connection: Connection, changed: string): Promise<readonly Row[]> {
    const answer: Row[] = [];
    let chars = 0;
    try {
      refuseCut(this.#engine.place, await connection.describe(changed));
      for await (const rows of connection.rows(changed)) {
        answer.push(...rows);
        for (const text of rows.flat()) chars += text.length;
        const most =
          answer.length > answerRowsMax ? `${answerRowsMax} rows` : chars > answerCharsMax ? '1 MB' : undefined;
        if (most !== undefined) {
          throw new AgentError('part.unreadable', `${this.#engine.place}: it gives over ${most}`, {
            hint: 'ask for one cheap answer, such as SELECT max(updated_at), count(*) FROM …',
          });
        }
      }
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const { code, message, cause, hint } = error;
      throw new AgentError(code, `${message} (asked by changed)`, { cause, hint });
    }
    return answer;
  }

  #nowMs(): number {
    return this.#context.clock.now().getTime();
  }

  /** The statement to send, the columns of its answer, and how its batches become those of the part. */
  async #prepare(connection: Connection): Promise<Prepared> {
    const { query, pushdown } = this.#settings;
    const described = await connection.describe(query);
    const columns = parseColumns(this.#engine.place, described);
    const needs = needsOf(this.#context).needs(columns);
    this.#binaryColumns = described.filter((column, at) => isBinaryNumber(column) && needs[at]?.isValue === true);
    const { collapse } = this.#engine;
    const isUsed = (at: number): boolean => {
      const need = needs[at];
      // Pushdown refuses such a value with a cast to an exact number.
      return need?.isCoded === true || (need?.isValue === true && !pushdown);
    };
    refuseCut(
      this.#engine.place,
      described.filter((_column, at) => isUsed(at)),
    );
    if (!pushdown || collapse === undefined) {
      refuseMixed(
        this.#engine.place,
        described.filter((_column, at) => needs[at]?.isNumberAsked === true),
      );
      const asked = described.map(({ isNumber }, at) => isNumber === true && isNumberTold(needs[at]));
      const kinds = numberColumns(asked);
      const numbers = kinds.isNumber && columns.filter((_column, at) => asked[at]);
      return { sql: query, columns, numbers, batches: (rows) => [{ columns, rows, ...kinds }] };
    }
    const { mapping, timezone } = this.#context;
    const named = described.map(({ type }, at) => ({ name: columns[at] as string, type }));
    const collapsed = await collapse({ query, columns: named, mapping, timezone }, connection);
    return { sql: collapsed.sql, columns, numbers: undefined, batches: (rows) => collapsed.batch(rows, columns) };
  }
}

function refuseCut(place: string, columns: readonly QueryColumn[]): void {
  const cut = columns.find(({ wholeCast }) => wholeCast !== undefined);
  if (cut === undefined) return;
  const { name, type, wholeCast } = cut;
  throw new AgentError(
    'part.unreadable',
    `${place}: the column ${name} is a ${type}, of which not all digits are given`,
    {
      hint: `write ${wholeCast} AS ${name} in the query, or a cast to a DECIMAL with the digits that it has`,
    },
  );
}

/** @param columns that are read by a decimal mark of texts */
function refuseMixed(place: string, columns: readonly QueryColumn[]): void {
  const mixed = columns.find(({ isMixed }) => isMixed === true);
  if (mixed === undefined) return;
  const { name, type } = mixed;
  throw new AgentError(
    'part.unreadable',
    `${place}: the column ${name} is a ${type}, whose values may be numbers, and decimal: "," is for texts`,
    { hint: `cast ${name} in the query, to a number or to a text` },
  );
}

interface Prepared {
  readonly sql: string;
  readonly columns: readonly string[];
  /** See `RowHashOptions`. */
  readonly numbers: readonly string[] | undefined;
  readonly batches: (rows: readonly Row[]) => readonly RowBatch[];
}

function parseColumns(place: string, described: readonly QueryColumn[]): readonly string[] {
  const columns = described.map(({ name }) => trimWhiteSpace(name));
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice === undefined) return columns;
  throw new AgentError('part.unreadable', `${place}: the query gives two columns called ${twice}`, {
    hint: 'name one of them with AS',
  });
}
