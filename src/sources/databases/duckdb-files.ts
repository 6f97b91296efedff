/**
 * The files that DuckDB opened for a query, by its own log. A query may name them in any way (a glob, a view, a macro), so they
 * are known only once they are open. Whoever writes into a folder of exports can put a link there to a file that the agent
 * may read and they may not: what such a file holds must not become rows or words of a message.
 */
import path from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { isAgentError } from '../../core/errors.ts';
import { refuseLink } from '../files/links.ts';
import { Refusal } from './child-server.ts';

/** How old the last look may be while rows are handed over; one takes about 10 ms. */
const lookEveryMs = 1000;

export class OpenedFiles {
  readonly #log: DuckDBConnection;
  readonly #forbidden: readonly string[];
  /** As DuckDB names them. */
  readonly #passed = new Set<string>();
  #lookedAtMs = -Infinity;

  private constructor(log: DuckDBConnection, forbidden: readonly string[]) {
    this.#log = log;
    this.#forbidden = forbidden;
  }

  /** @param log a connection of its own */
  static async watch(log: DuckDBConnection, forbidden: readonly string[]): Promise<OpenedFiles> {
    await log.run("CALL enable_logging('FileSystem')");
    return new OpenedFiles(log, forbidden);
  }

  /** All that were opened and may be read, as absolute paths. */
  get all(): readonly string[] {
    return [...new Set([...this.#passed].map((opened) => path.resolve(opened)))];
  }

  /**
   * What `work` gives, unless a file was opened for it that must not be read: then neither that nor its failure.
   * @throws Refusal
   */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.look();
    }
  }

  /** For rows on their way, which count only once the last of them is there. */
  async lookNowAndThen(): Promise<void> {
    if (performance.now() - this.#lookedAtMs >= lookEveryMs) await this.look();
  }

  /** @throws Refusal */
  async look(): Promise<void> {
    const logged = await this.#log.runAndReadAll(
      `SELECT DISTINCT message FROM duckdb_logs WHERE type = 'FileSystem' AND contains(message, '"op":"OPEN"')`,
    );
    for (const [message] of logged.getRowsJson()) {
      const { fs, path: opened } = JSON.parse(message as string) as { readonly fs: string; readonly path: string };
      if (fs !== 'LocalFileSystem' || this.#passed.has(opened)) continue;
      // As the query names it: relative to the working directory, which is the config's.
      await refuseLink(path.resolve(opened), this.#forbidden).catch(refused);
      this.#passed.add(opened);
    }
    this.#lookedAtMs = performance.now();
  }
}

function refused(error: unknown): never {
  if (!isAgentError(error)) throw error;
  const { code, message, hint } = error;
  throw new Refusal({ code, message, hint });
}
