/** Statements of one read over the HTTP interface of ClickHouse, which knows no transactions: each sees its own moment. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ClickHouseClient } from '@clickhouse/client';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { readStart } from '../../http/answer.ts';
import { openNodeAgent, proxySecrets } from '../../http/connection.ts';
import { readAuthorities } from '../../http/credentials.ts';
import { SilenceError } from '../../http/failures.ts';
import { isClean } from '../../http/masking.ts';
import type { ClickHouseAddress } from './clickhouse-address.ts';
import { brokenWords, cutWords, endlessWords, openingWords, queryWords } from './clickhouse-failures.ts';
import { AnswerLines, endSetting, markColumn, textOf } from './clickhouse-lines.ts';
import { maySet, parseSettings, settingsQuery, settingsToSend } from './clickhouse-settings.ts';
import { isMixed, isNumberText, isState, named, shown, typeOf } from './clickhouse-types.ts';
import type { Connection, QueryColumn } from './connection.ts';
import { type Words, missingDriver, networkWords, serverError } from './failure.ts';
import { farewell } from './farewell.ts';
import { withoutEnd } from './query-words.ts';

/** Longest description of a statement, or words of a failure. */
const saidMax = 4_000_000;

/** @throws AgentError `source.unreadable` where the server cannot be reached or lets nobody in */
export async function connectClickHouse(
  address: ClickHouseAddress,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<Connection> {
  const code = 'source.unreadable' as const;
  const driver = await import('@clickhouse/client').catch((error: unknown) => {
    throw missingDriver('@clickhouse/client', 'clickhouse', error);
  });
  const { origin, user, password, database } = address;
  const way = {
    url: new URL(origin),
    env: process.env,
    authorities: await readAuthorities(caFile, { code, signal }),
    code,
  };
  const client = driver.createClient({
    url: origin,
    username: user,
    password,
    ...(database !== undefined && { database }),
    application: 'driver-sync',
    http_agent: await openNodeAgent(way),
    // A query may be at work for hours before its first row; a dead server is known by the connection.
    request_timeout: 0,
    compression: { request: false, response: false },
    log: { level: driver.ClickHouseLogLevel.OFF },
  });
  const session = new ClickHouseSession(address, client, [password, ...proxySecrets(way)], signal);
  try {
    await session.begin();
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** An answer that has begun. */
interface Answer {
  readonly body: IncomingMessage;
  readonly status: number;
}

class ClickHouseSession implements Connection {
  readonly #address: ClickHouseAddress;
  readonly #client: ClickHouseClient;
  readonly #secrets: readonly string[];
  readonly #signal: AbortSignal;
  readonly #abort = (): void => void this.#stop();
  /** Unknown until the server has answered once. */
  #settings: Readonly<Record<string, string>> | undefined;
  /** Known with them. */
  #maySet = false;
  /** The columns of statements, some of them asked for more than once. */
  readonly #described = new Map<string, readonly QueryColumn[]>();
  /** The statement that the server may be at. */
  #running: { readonly id: string; body?: IncomingMessage } | undefined;
  #stopped: Promise<void> | undefined;

  constructor(address: ClickHouseAddress, client: ClickHouseClient, secrets: readonly string[], signal: AbortSignal) {
    this.#address = address;
    this.#client = client;
    this.#secrets = secrets;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Asks a first question, which every server answers at once. */
  async begin(): Promise<void> {
    const { connectMaxMs, label } = this.#address;
    const limit = AbortSignal.timeout(connectMaxMs);
    const opening = AbortSignal.any([this.#signal, limit]);
    let refusal;
    try {
      refusal = await this.#whole(settingsQuery, opening);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof AgentError) throw error;
      const cause = limit.aborted ? new SilenceError('no answer') : error;
      throw this.#error('source.unreadable', networkWords(cause, this.#address, this.#secrets), error);
    }
    const settings = parseSettings(refusal.said);
    // Every server of every age has this one.
    if (refusal.status !== 200 || !settings.has('readonly')) {
      throw this.#error('source.unreadable', openingWords(refusal, this.#secrets), undefined);
    }
    this.#settings = settingsToSend(settings, label);
    this.#maySet = maySet(settings);
  }

  async describe(sql: string): Promise<readonly QueryColumn[]> {
    const known = this.#described.get(sql);
    if (known !== undefined) return known;
    const columns = await this.#describe(sql);
    this.#described.set(sql, columns);
    return columns;
  }

  async #describe(sql: string): Promise<readonly QueryColumn[]> {
    const answer = await this.#asked(`DESCRIBE TABLE (\n${withoutEnd(sql, 'clickhouse')}\n) FORMAT TabSeparated`);
    if (answer.status !== 200) throw this.#error('part.unreadable', queryWords(answer, this.#secrets), undefined);
    const columns = tableOf(answer.said).map(([name = '', type = '']) => ({
      name,
      type,
      isNumber: isNumberText(type),
      isMixed: isMixed(type),
    }));
    const state = columns.find(({ type }) => isState(type));
    if (state !== undefined) {
      const { name, type } = state;
      throw this.#error(
        'part.unreadable',
        {
          why: `the column ${name} is ${type}, not a text`,
          hint: `write finalizeAggregation(${name}), or leave it out`,
        },
        undefined,
      );
    }
    return columns;
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    const columns = await this.describe(sql);
    const fields = columns.map(({ name, type }) => shown(named(name), typeOf(type)));
    yield* this.answer(
      `SELECT ${[markColumn, ...fields].join(', ')} FROM (\n${withoutEnd(sql, 'clickhouse')}\n)`,
      columns.length,
    );
  }

  /** The rows of a statement whose first column is the mark. @param columns how many follow it */
  async *answer(sql: string, columns: number): AsyncGenerator<readonly Row[], void, void> {
    const hasEnd = this.#maySet;
    const lines = new AnswerLines(this.#address.label, { columns, hasEnd });
    try {
      const { body, status } = await this.#send(`${sql}\nFORMAT TabSeparated`, this.#signal, hasEnd ? endSetting : {});
      if (status !== 200) throw this.#refused({ status, said: (await readStart(body, saidMax)).text });
      for await (const chunk of body as AsyncIterable<Buffer>) {
        lines.push(chunk);
        if (lines.hasBatch) yield lines.take();
      }
      lines.end();
      if (lines.failure !== undefined) throw this.#refused({ status, said: lines.failure });
      if (!lines.isWhole) throw this.#error('part.unreadable', cutWords, undefined);
      if (!lines.hasEnded && !isFramed(body)) throw this.#error('part.unreadable', endlessWords, undefined);
      this.#running = undefined;
      const last = lines.take();
      if (last.length > 0) yield last;
    } catch (error) {
      throw this.#failure(error);
    } finally {
      // Left in the middle.
      if (this.#running !== undefined) await this.#stop();
    }
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    await this.#stop();
  }

  /** A small answer as a whole. */
  async #asked(sql: string): Promise<{ readonly status: number; readonly said: string }> {
    try {
      return await this.#whole(sql, this.#signal);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #whole(sql: string, signal: AbortSignal): Promise<{ readonly status: number; readonly said: string }> {
    const { body, status } = await this.#send(sql, signal);
    const { text, cut } = await readStart(body, saidMax);
    if (cut instanceof Error) throw cut;
    this.#running = undefined;
    return { status, said: text };
  }

  async #send(query: string, signal: AbortSignal, settings: Readonly<Record<string, string>> = {}): Promise<Answer> {
    signal.throwIfAborted();
    const running: { readonly id: string; body?: IncomingMessage } = { id: randomUUID() };
    this.#running = running;
    const answered = await this.#client.exec({
      query,
      query_id: running.id,
      clickhouse_settings: { ...this.#settings, ...settings },
      abort_signal: signal,
      ignore_error_response: true,
    });
    const body = answered.stream as IncomingMessage;
    running.body = body;
    // It may break while nobody reads it; whoever reads learns of it.
    body.on('error', () => undefined);
    return { body, status: answered.http_status_code ?? body.statusCode ?? 0 };
  }

  /** Ends whatever the server is doing, then the connections. */
  async #stop(): Promise<void> {
    this.#stopped ??= (async () => {
      const running = this.#running;
      this.#running = undefined;
      running?.body?.destroy();
      if (running !== undefined && this.#settings !== undefined) await this.#kill(running.id, this.#settings);
      await this.#client.close();
    })();
    await this.#stopped;
  }

  /** A server ends what it reads for nobody by itself, but an old one only as it writes; and not every user may ask for it. */
  async #kill(id: string, { readonly: _none, ...settings }: Readonly<Record<string, string>>): Promise<void> {
    const killed = this.#client.exec({
      query: `KILL QUERY WHERE query_id = '${id}' SYNC`,
      clickhouse_settings: settings,
      ignore_error_response: true,
    });
    await farewell(
      killed.then(
        ({ stream }) => void stream.resume(),
        () => undefined,
      ),
    );
  }

  #refused(refusal: { readonly status: number; readonly said: string }): AgentError {
    return this.#error('part.unreadable', queryWords(refusal, this.#secrets), undefined);
  }

  #failure(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    if (error instanceof AgentError) return error;
    return this.#error('part.unreadable', brokenWords(error, this.#address, this.#secrets), error);
  }

  #error(code: 'source.unreadable' | 'part.unreadable', words: Words, cause: unknown): AgentError {
    return serverError(code, this.#address, words, isClean(cause, this.#secrets) ? cause : undefined);
  }
}

/** Whether the answer says where it ends. One that ends with its connection looks whole wherever it is cut. RFC 9112, 6.3. */
function isFramed({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Lines of TabSeparated, whole. */
function tableOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').map(textOf));
}
