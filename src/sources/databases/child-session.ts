/**
 * A database that is read in a process of its own: an abort ends it at once, and whatever memory it takes, the agent lives on.
 * Rows cross as columns, but for those that the database collapsed (`wire-batch.ts`). Starting takes 80 ms.
 */
import * as childProcess from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentError, type ErrorCode } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { farewell } from './farewell.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { Connection, QueryColumn, WantedColumns } from './connection.ts';
import { BatchReader, type WireBatch } from './wire-batch.ts';

/** `rows` runs a statement; its batches are the replies to that and to each `more`: as columns, where they are wanted so. */
export type Request<Place> =
  | { readonly open: Place }
  | { readonly describe: string }
  | { readonly rows: string; readonly wanted?: WantedColumns }
  | 'more'
  | 'close';

export interface Reply {
  readonly columns?: readonly QueryColumn[];
  readonly rows?: readonly Row[];
  readonly batch?: WireBatch;
  /** The hash of all rows; comes with the last ones. */
  readonly hash?: string;
  /** See `Connection.files`; come with the last rows. */
  readonly files?: readonly string[] | undefined;
  /** Whether these rows are the last. */
  readonly isLast?: boolean;
  readonly failure?: Failure;
}

export interface Failure {
  /** From the engine, from its child, or from another error. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface Child {
  /** The name of its file beside this one, without the ending. */
  readonly program: 'duckdb-child' | 'sqlite-child';
  /** The database, as messages name it. */
  readonly place: string;
}

export class ChildSession<Place> implements Connection {
  readonly #place: string;
  readonly #signal: AbortSignal;
  readonly #child: childProcess.ChildProcess;
  readonly #ended: Promise<unknown>;
  #files: readonly string[] | undefined;
  #asked: PromiseWithResolvers<Reply> | undefined;
  /** Why it answers no more. */
  #why: { readonly error: unknown } | undefined;
  readonly #abort = (): void => this.#kill(this.#signal.reason);

  constructor({ program, place }: Child, signal: AbortSignal) {
    signal.throwIfAborted();
    this.#place = place;
    this.#signal = signal;
    // A `.ts` file in a checkout, a `.js` file where it was built.
    const file = new URL(`${program}${path.extname(import.meta.url)}`, import.meta.url);
    this.#child = childProcess.fork(fileURLToPath(file), {
      execArgv: [],
      // Twice as fast as JSON for batches of texts.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const ended = Promise.withResolvers<void>();
    this.#ended = ended.promise;
    const end = (how: string): void => {
      const hint = 'did the machine run out of memory? it is tried again at the next look';
      const message = `${place}: the process that reads it ended (${how})`;
      this.#fail(new AgentError('part.unreadable', message, { hint }));
      ended.resolve();
    };
    this.#child.on('exit', (code, killedBy) => end(killedBy ?? `exit code ${code}`));
    this.#child.on('error', (error) => end(error.message));
    this.#child.on('message', (reply: Reply) => {
      this.#asked?.resolve(reply);
      this.#asked = undefined;
    });
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Returns a failure: the caller may try again. */
  async open(place: Place): Promise<Failure | undefined> {
    return (await this.#ask({ open: place })).failure;
  }

  async describe(sql: string): Promise<readonly QueryColumn[]> {
    const { columns = [], failure } = await this.#ask({ describe: sql });
    if (failure !== undefined) throw this.error('part.unreadable', failure);
    return columns;
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    for await (const { rows = [], files } of this.#replies({ rows: sql })) {
      this.#files = files ?? this.#files;
      if (rows.length > 0) yield rows;
    }
  }

  files(): readonly string[] | undefined {
    return this.#files;
  }

  async *batches(sql: string, wanted: WantedColumns): AsyncGenerator<Batch, string, void> {
    const reader = new BatchReader(wanted.columns);
    let last: Reply = {};
    for await (const reply of this.#replies({ rows: sql, wanted })) {
      last = reply;
      if (reply.batch !== undefined) yield reader.read(reply.batch);
    }
    return last.hash as string;
  }

  async *#replies(request: Request<Place>): AsyncGenerator<Reply, void, void> {
    let isOver = false;
    try {
      for (let reply = this.#ask(request); ;) {
        const given = await reply;
        const { isLast, failure } = given;
        isOver = isLast === true || failure !== undefined;
        if (failure !== undefined) throw this.error('part.unreadable', failure);
        if (!isOver) {
          reply = this.#ask('more');
          // A failure is thrown when the next batch is asked for.
          reply.catch(() => undefined);
        }
        yield given;
        if (isOver) return;
      }
    } finally {
      if (!isOver) this.#kill(new Error('the rest of the rows is not wanted'));
    }
  }

  error(code: ErrorCode, { message, hint }: Failure): AgentError {
    return new AgentError(code, `${this.#place}: ${message}`, { hint });
  }

  /** Closes the database where the process listens, so that the engine takes its own files away. */
  async close(): Promise<void> {
    if (this.#asked === undefined) await farewell(this.#ask('close').catch(() => undefined));
    this.#kill(new Error('it was closed'));
    await farewell(this.#ended);
    this.#signal.removeEventListener('abort', this.#abort);
  }

  /** Rejects when the process ends, and with the signal's reason when that aborts. One at a time. */
  async #ask(request: Request<Place>): Promise<Reply> {
    if (this.#why !== undefined) throw this.#why.error;
    this.#asked = Promise.withResolvers();
    // If it cannot be sent, the process has ended, and its end rejects this.
    if (this.#child.connected) this.#child.send(request, () => undefined);
    return await this.#asked.promise;
  }

  #kill(why: unknown): void {
    this.#fail(why);
    this.#child.kill('SIGKILL');
  }

  /** The first reason counts. */
  #fail(error: unknown): void {
    this.#why ??= { error };
    this.#asked?.reject(this.#why.error);
    this.#asked = undefined;
  }
}
