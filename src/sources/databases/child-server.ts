/** The other side of `child-session.ts`: a process that answers requests about one database and writes to no stream. */
import type { FieldKind, Row } from '../../core/model.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import { type NumbersOfRow, numberColumns } from '../formats/field-numbers.ts';
import { batchLengthMax, isFieldTooLong, rowBytesMax } from '../limits.ts';
import type { Failure, Reply, Request } from './child-session.ts';
import { batchRows, fieldTooLong, longFieldHint, longRowHint, rowTooLong } from './long-rows.ts';
import { AgentError } from '../../core/errors.ts';
import type { QueryColumn, WantedColumns } from './connection.ts';
import { ColumnHash } from './row-hash.ts';
import { BatchWriter } from './wire-batch.ts';

/** One database, as its engine reads it. What it throws becomes a `Failure`. */
export interface ChildReader<Place> {
  open(place: Place): Promise<void>;
  describe(sql: string): Promise<readonly QueryColumn[]>;
  /** Begins a statement, whose rows `read` gives. */
  start(sql: string): Promise<void>;
  /** Adds rows until the batch is full. @returns whether there are no more */
  read(batch: Batch): Promise<boolean>;
  /** See `Connection.files`. */
  files?(): readonly string[];
  close(): void;
  failureOf(error: Error): Failure;
}

/** Something that a child itself refuses. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Rows on their way to the agent, which are not sent where they would fill its memory. */
export class Batch {
  readonly rows: Row[] = [];
  /** By row, where each value has a type of its own. */
  readonly #numbers: NumbersOfRow[] = [];
  readonly #columns: readonly string[];
  readonly #rowsBefore: number;
  readonly #rowsMax: number;
  #chars = 0;

  constructor(columns: readonly string[], rowsBefore: number, rowsMax: number) {
    this.#columns = columns;
    this.#rowsBefore = rowsBefore;
    this.#rowsMax = rowsMax;
  }

  get isFull(): boolean {
    return this.rows.length >= this.#rowsMax || this.#chars >= batchLengthMax;
  }

  /** @param numbers of the fields of the row, where the columns do not say it @throws Refusal where it is too long */
  add(row: Row, numbers?: NumbersOfRow): void {
    let chars = 0;
    for (let at = 0; at < row.length; at++) {
      const text = row[at] as string;
      if (isFieldTooLong(text)) {
        throw new Refusal({ code: 'FIELD', message: `${this.where(at)}: ${fieldTooLong}`, hint: longFieldHint });
      }
      chars += text.length;
    }
    if (chars > rowBytesMax) {
      throw new Refusal({ code: 'ROW', message: `${this.#row}: ${rowTooLong}`, hint: longRowHint });
    }
    this.#chars += chars;
    if (numbers !== undefined) this.#numbers[this.rows.length] = numbers;
    this.rows.push(row);
  }

  /** Whether fields are numbers; `undefined` where no row said so. */
  get isNumber(): FieldKind | undefined {
    return this.#numbers.length === 0 ? undefined : (row, column) => this.#numbers[row]?.[column] === true;
  }

  /** The field of a row that is not added yet, for messages. */
  where(column: number): string {
    return `${this.#row}, column ${trimWhiteSpace(this.#columns[column] ?? '')}`;
  }

  get #row(): string {
    return `row ${this.#rowsBefore + this.rows.length + 1}`;
  }
}

/** Most rows of a batch of columns: fewer messages, each of a few times the bytes. */
const columnBatchRows = 4096;

/** Answers until the process is ended. */
export function serve<Place>(reader: ChildReader<Place>): void {
  let columns: readonly string[] = [];
  let ofColumns: ReturnType<typeof numberColumns> = {};
  let rowsGiven = 0;
  let writing: { readonly writer: BatchWriter; readonly hash: ColumnHash } | undefined;
  const take = async (): Promise<Reply> => {
    const batch = new Batch(columns, rowsGiven, writing === undefined ? batchRows : columnBatchRows);
    const isLast = await reader.read(batch);
    rowsGiven += batch.rows.length;
    if (writing === undefined) return { rows: batch.rows, isLast, ...(isLast && { files: reader.files?.() }) };
    const written = writing.writer.write(batch.rows, batch.isNumber ?? ofColumns.isNumber);
    writing.hash.add(written, batch.rows);
    return { batch: written, isLast, ...(isLast && { hash: writing.hash.digest() }) };
  };
  const answer = async (request: Request<Place>): Promise<Reply> => {
    if (request === 'more') return await take();
    if (request === 'close') {
      reader.close();
      return {};
    }
    if ('open' in request) {
      await reader.open(request.open);
      return {};
    }
    if ('describe' in request) return { columns: await reader.describe(request.describe) };
    const described = await reader.describe(request.rows);
    columns = described.map(({ name }) => name);
    ofColumns = numberColumns(described.map(({ isNumber }) => isNumber === true));
    rowsGiven = 0;
    writing = request.wanted && writingOf(request.wanted);
    await reader.start(request.rows);
    return await take();
  };
  // The agent gets the same signal and decides when this process ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  process.on('message', (request: Request<Place>) => {
    void answer(request)
      .catch((error: unknown): Reply => ({ failure: failureOf(error, reader) }))
      // An error here means that the agent is gone, which ends this process too.
      .then((reply) => process.send?.(reply, undefined, {}, () => undefined));
  });
}

function writingOf({ columns, needs }: WantedColumns): { readonly writer: BatchWriter; readonly hash: ColumnHash } {
  return { writer: new BatchWriter(columns, needs), hash: new ColumnHash(columns) };
}

function failureOf(error: unknown, reader: Pick<ChildReader<unknown>, 'failureOf'>): Failure {
  if (error instanceof Refusal) return error.failure;
  if (error instanceof AgentError) return { code: error.code, message: error.message, hint: error.hint };
  return error instanceof Error ? reader.failureOf(error) : { code: '', message: String(error) };
}
