/** Keeps the body of an answer in a temporary file: it is read like any other file, and only once it came whole. */
import { mkdtemp, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, pipeline } from 'node:stream';
import { createBrotliDecompress } from 'node:zlib';
import { AgentError, type ErrorCode, isAgentError } from '../../core/errors.ts';
import { codeOf } from '../files/access.ts';
import type { Compression } from '../files/archive.ts';
import { expand } from '../files/compressed.ts';
import { removeKept } from '../files/keep.ts';
import { isPageText } from '../../http/answer.ts';
import type { Web, WebAnswer } from './web.ts';

/** What `accept-encoding` may offer. */
export const knownCodings = 'gzip, br, zstd';

const compressions: Readonly<Record<string, Compression>> = { gzip: 'gzip', 'x-gzip': 'gzip', zstd: 'zstd' };
/** Enough for a page's doctype, whatever white space stands before it. */
const startBytes = 512;

export interface Spooled {
  readonly file: string;
  /** How the content itself is compressed, as in `report.csv.gz`; by its first bytes. */
  readonly compression: Compression | undefined;
  remove(): Promise<void>;
}

/**
 * Keeps the body of an answer, without its content codings, in a directory that only this user may enter.
 * @throws AgentError `part.unreadable` where it did not come whole, is larger than `expandedMax` or cannot be kept;
 *   `source.unreadable` for a web page
 */
export async function spool(web: Web, answer: WebAnswer, expandedMax: number, signal: AbortSignal): Promise<Spooled> {
  const stop = (): void => void answer.body.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const directory = await mkdtemp(path.join(tmpdir(), 'driver-sync-'));
  const remove = (): Promise<void> => removeKept(directory);
  try {
    signal.throwIfAborted();
    const file = path.join(directory, 'body');
    const handle = await open(file, 'wx', 0o600);
    try {
      const content = decode(
        answer.header('content-encoding'),
        bodyOf(web, answer, signal, 'part.unreadable'),
        expandedMax,
      );
      const start = await keep(handle, content, expandedMax);
      // A server calls many things text/html: only a page begins like one.
      if (isPageText(start.toString('utf8'))) throw web.pageFailure(answer.url);
      return { file, compression: compressionIn(start), remove };
    } finally {
      await handle.close();
    }
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw isAgentError(error) ? error : notKept(error);
  } finally {
    signal.removeEventListener('abort', stop);
    answer.body.destroy();
  }
}

/** The bytes as they come; a failure is said in words. @throws AgentError of that code where they do not come whole */
export async function* bodyOf(
  web: Web,
  { url, body, header }: WebAnswer,
  signal: AbortSignal,
  code: ErrorCode,
): AsyncGenerator<Buffer, void, void> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    const length = header('content-length');
    const what = `the answer did not come whole (${bytes}${length === undefined ? '' : ` of ${length}`} bytes were read)`;
    throw web.networkFailure(url, error, { code, what });
  }
  signal.throwIfAborted();
}

function decode(
  codings: string | undefined,
  received: AsyncIterable<Buffer>,
  expandedMax: number,
): AsyncIterable<Buffer> {
  const names = (codings ?? '').toLowerCase().split(',');
  let content = received;
  // The last one was applied last.
  for (const name of names.map((text) => text.trim()).toReversed()) {
    const compression = compressions[name];
    if (compression !== undefined) content = expand({ name: 'the answer', compression, stored: content, expandedMax });
    else if (name === 'br') content = expandBrotli(content);
    else if (name !== '' && name !== 'identity') {
      throw new AgentError('part.unreadable', `the answer comes in a content-encoding other than ${knownCodings}`, {
        hint: 'the server was asked for these only: look for a setting of it',
      });
    }
  }
  return content;
}

async function* expandBrotli(stored: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const decompress = createBrotliDecompress();
  let given = 0;
  const counted = async function* (): AsyncGenerator<Buffer, void, void> {
    for await (const chunk of stored) {
      given += chunk.length;
      yield chunk;
    }
  };
  // Either end destroys the other; the reader of the result sees every failure, so there is nothing to do here.
  const expanded = pipeline(Readable.from(counted()), decompress, () => {});
  try {
    for await (const chunk of expanded as AsyncIterable<Buffer>) yield chunk;
    // Node leaves what stands behind the end, and says nothing.
    if (given > decompress.bytesWritten) {
      throw new AgentError('part.unreadable', 'the answer: its br coding is damaged: there is more behind its end');
    }
  } catch (error) {
    if (isAgentError(error)) throw error;
    const what = codeOf(error) === 'Z_BUF_ERROR' ? 'cut short' : 'damaged';
    throw new AgentError('part.unreadable', `the answer: its br coding is ${what}`, { cause: error });
  }
}

/** Writes all of the content and returns its start. */
async function keep(handle: FileHandle, content: AsyncIterable<Buffer>, expandedMax: number): Promise<Buffer> {
  let start = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > expandedMax) {
      throw new AgentError('part.unreadable', `the answer has more than ${expandedMax} bytes (expandedMax)`, {
        hint: 'raise expandedMax if it is meant to be that large',
      });
    }
    if (start.length < startBytes) start = Buffer.concat([start, chunk.subarray(0, startBytes - start.length)]);
    await handle.appendFile(chunk);
  }
  return start;
}

function compressionIn(start: Buffer): Compression | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip';
  return start.length >= 4 && start.readUInt32LE(0) === 0xfd2fb528 ? 'zstd' : undefined;
}

function notKept(cause: unknown): AgentError {
  const why = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  return new AgentError('part.unreadable', `the answer cannot be kept in ${tmpdir()} (${why})`, {
    cause,
    hint: 'make room there, or set TMPDIR to a directory that has room',
  });
}
