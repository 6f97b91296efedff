/** Servers of a report, and what becomes of reading them, for tests of `type: http`. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AgentError } from '../../src/core/errors.ts';
import type { Source } from '../../src/core/ports.ts';
import { receiver } from './destination-world.ts';
import { openSource, readWhole, tempDir } from './source-world.ts';

export const csv = 'date,amount\n2026-01-31,1.50\n2026-02-28,007\n';
export const table = {
  columns: ['date', 'amount'],
  rows: [
    ['2026-01-31', '1.50'],
    ['2026-02-28', '007'],
  ],
};

/** What no message may show. */
export const secret = 'hunter2-and-more';

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A source that reads what `handle` answers. */
export async function sourceOf(handle: Handle, keys: object = {}, at = '/revenue.csv'): Promise<Source> {
  return openSource('http', { url: `${await receiver(handle)}${at}`, ...keys }, await tempDir());
}

export function answer(body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Handle {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

/** The failure of a look or, where that is fine, of the read after it. */
export async function failureOf(source: Source): Promise<AgentError> {
  try {
    await readWhole(source);
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('it was read');
}

/** All that a log could show of a failure. */
export function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { hint = '' } = error as AgentError;
  return [error.message, hint, error.stack, JSON.stringify(error), everythingIn(error.cause ?? '')].join('\n');
}

/** A report behind an address: each answer is of one version, whatever is published meanwhile. */
export async function publishedReport(): Promise<{
  readonly source: Source;
  readonly publish: (content: string) => void;
  readonly withdraw: () => void;
}> {
  let report: { readonly content: string; readonly version: Record<string, string> } | undefined;
  const source = await sourceOf((request, response) => {
    if (report === undefined) response.writeHead(404).end();
    else if (request.headers['if-none-match'] === report.version['etag']) response.writeHead(304, report.version).end();
    else response.writeHead(200, report.version).end(report.content);
  });
  return {
    source,
    publish(content) {
      const etag = `"${createHash('sha256').update(content).digest('hex')}"`;
      report = { content, version: { etag, 'last-modified': new Date().toUTCString() } };
    },
    withdraw: () => void (report = undefined),
  };
}
