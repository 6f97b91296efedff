/** Statements of PostgreSQL's extended protocol: one is described without running it, one runs as its rows are taken. */
import type { Connection as Wire, FieldDef, Submittable } from 'pg';
import type { Row } from '../../core/model.ts';
import { RowQueue } from './row-queue.ts';

/** How many rows are asked for at first, before it is known how long they are. */
const firstRows = 100;

/** The methods that `Client` calls on a statement; pg-cursor relies on the same. */
interface Statement extends Submittable {
  /** Whether the server has no more to do for it. */
  readonly isDone: boolean;
  /** Ends the wait for its answer. */
  drop(reason: unknown): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/** Asks for the columns of a statement without running it. */
export class Description implements Statement {
  readonly #done = Promise.withResolvers<readonly FieldDef[]>();
  readonly #sql: string;
  #fields: readonly FieldDef[] = [];
  #isDone = false;

  constructor(sql: string) {
    this.#sql = sql;
  }

  /** Empty where the statement gives no rows. */
  get fields(): Promise<readonly FieldDef[]> {
    return this.#done.promise;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  drop(reason: unknown): void {
    this.#done.reject(reason);
  }

  submit(wire: Wire): void {
    wire.parse({ name: '', text: this.#sql, types: [] }, true);
    wire.describe({ type: 'S', name: '' }, true);
    wire.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#fields = fields;
  }

  handleReadyForQuery(): void {
    this.#isDone = true;
    this.#done.resolve(this.#fields);
  }

  handleError(error: Error): void {
    this.#isDone = true;
    this.#done.reject(error);
  }
}

/** The rows of one statement. pg-cursor walks over every field a second time. */
export class Portal implements Statement {
  readonly queue: RowQueue;
  readonly #sql: string;
  #wire: Wire | undefined;
  #isDone = false;
  /** Whether the server waits to be asked for more rows. */
  #isSuspended = false;
  #rowsToAskFor = firstRows;
  readonly #heard = (chunk: Buffer): void => {
    this.queue.receive(chunk.length);
    this.#pauseIfFull();
  };

  /** @param place of the database, for messages */
  constructor(sql: string, place: string) {
    this.#sql = sql;
    this.queue = new RowQueue(place, () => this.#more());
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  drop(reason: unknown): void {
    this.queue.fail(reason);
  }

  submit(wire: Wire): void {
    this.#wire = wire;
    // It must hear before the driver, which collects a row until it is whole.
    wire.stream.prependListener('data', this.#heard);
    wire.parse({ name: '', text: this.#sql, types: [] }, true);
    wire.bind({ portal: portalName, statement: '', binary: '', values: [] }, true);
    wire.describe({ type: 'P', name: portalName }, true);
    this.#execute();
  }

  #more(): void {
    this.#wire?.stream.resume();
    if (this.#isSuspended) this.#execute();
  }

  #execute(): void {
    if (this.#isDone) return;
    this.#isSuspended = false;
    this.#wire?.execute({ portal: portalName, rows: String(this.#rowsToAskFor) }, true);
    this.#wire?.flush();
  }

  /** The rows asked for may be far longer than those before them. */
  #pauseIfFull(): void {
    if (this.queue.isFull) this.#wire?.stream.pause();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.queue.expect(fields.length);
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    for (let index = 0; index < fields.length; index++) fields[index] ??= '';
    this.queue.push(fields as Row);
    this.#pauseIfFull();
  }

  /** The rows asked for have come; the next ones are asked for once these are taken. */
  handlePortalSuspended(): void {
    this.#isSuspended = true;
    this.#rowsToAskFor = this.queue.rowsToAskFor;
    this.queue.release();
  }

  handleCommandComplete(): void {
    this.#finish();
    this.queue.end();
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {}

  handleError(error: Error): void {
    this.#finish();
    this.queue.fail(error);
  }

  /** After an error the server skips everything up to a sync; it also needs one to end a statement that succeeded. */
  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#wire?.stream.off('data', this.#heard);
    this.#wire?.stream.resume();
    this.#wire?.close({ type: 'P', name: portalName }, true);
    this.#wire?.sync();
  }
}

const portalName = 'driver-sync';
