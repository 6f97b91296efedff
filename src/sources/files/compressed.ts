/** Expands compressed files, and refuses what is damaged or too large. */
import type { TransformOptions } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { release } from '../../core/release.ts';
import { codeOf } from './access.ts';
import { type Archive, type Compression, cutShort, noArchive, notTheEnd } from './archive.ts';
import { zstdPieces } from './zstd-frames.ts';

const suffixes: Readonly<Record<string, Compression>> = { '.gz': 'gzip', '.zst': 'zstd' };

/** With what waits, the next chunks are expanded on another thread while one is worked on. */
const chunkSize = 256 * 1024;
const options: Pick<TransformOptions, 'readableHighWaterMark'> & { readonly chunkSize: number } = {
  chunkSize,
  readableHighWaterMark: 4 * chunkSize,
};

/** How a file of this name is compressed: its name alone says so. */
export function compressionOf(name: string): Compression | undefined {
  return suffixes[/\.[a-z]+$/i.exec(name)?.[0].toLowerCase() ?? ''];
}

/**
 * The content of an archive, in chunks of at most 256 KiB, no more than some of them ahead. Several gzip members or zstd
 * frames are one text, as their own tools have it; so are the zeros that a gzip file may be padded with.
 * @param heldMax how many chunks are in use at once, the newest ones: the memory of the others is given back. Default: all of them
 * @throws AgentError `part.unreadable` where it is not an archive, is cut short, is damaged or expands beyond `expandedMax`
 */
export async function* expand(archive: Archive, heldMax = Infinity): AsyncGenerator<Buffer, void, void> {
  const { name, compression, expandedMax } = archive;
  const stream = compression === 'gzip' ? createGunzip(options) : createZstdDecompress(options);
  const gzip = { dataBytes: 0 };
  const pieces = compression === 'gzip' ? gzipPieces(archive, gzip) : zstdPieces(archive);
  const feeding = pipeline(pieces, stream);
  // It fails with the stream, which is where the failure is seen.
  feeding.catch(() => undefined);
  let expandedBytes = 0;
  const held: Buffer[] = [];
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      expandedBytes += chunk.length;
      if (expandedBytes > expandedMax) throw tooLarge(archive);
      yield chunk;
      if (heldMax === Infinity) continue;
      held.push(chunk);
      if (held.length >= heldMax) giveBack(held.shift() as Buffer);
    }
    await feeding;
  } catch (error) {
    throw expandError(archive, error);
  }
  if (gzip.dataBytes > stream.bytesWritten) throw notTheEnd(name, compression, stream.bytesWritten);
}

/** The memory that the stream made for chunks, once the last one of them is not used any more. */
function giveBack(chunk: Buffer): void {
  if (chunk.byteOffset + chunk.length === chunkSize) release(chunk, chunkSize);
}

/** The stored bytes. Zeros at their end may be padding; `seen` tells where they begin. */
async function* gzipPieces({ name, stored }: Archive, seen: { dataBytes: number }): AsyncGenerator<Buffer, void, void> {
  let bytes = 0;
  for await (const chunk of stored) {
    if (bytes === 0 && (chunk[0] !== 0x1f || (chunk.length > 1 && chunk[1] !== 0x8b))) throw noArchive(name, 'gzip');
    const last = chunk.findLastIndex((byte) => byte !== 0);
    if (last >= 0) seen.dataBytes = bytes + last + 1;
    bytes += chunk.length;
    yield chunk;
  }
}

function tooLarge({ name, expandedMax }: Archive): AgentError {
  return new AgentError('part.unreadable', `${name} expands to more than ${expandedMax} bytes (expandedMax)`, {
    hint: 'raise expandedMax if the file is meant to be that large',
  });
}

const hints: Readonly<Record<string, string>> = {
  ZSTD_error_frameParameter_windowTooLarge: 'compress it without --long, or with a window of at most 128 MB',
  ZSTD_error_dictionary_wrong: 'compress it without a dictionary',
};

/** The expander's own words, with the file. Another failure, such as a failed read, stays as it is. */
function expandError({ name, compression }: Archive, cause: unknown): unknown {
  const code = codeOf(cause) ?? '';
  if (isAgentError(cause) || !(cause instanceof Error) || !/^Z(STD)?_/.test(code)) return cause;
  if (code === 'Z_BUF_ERROR') return cutShort(name, compression);
  const why = cause.message.charAt(0).toLowerCase() + cause.message.slice(1);
  return new AgentError('part.unreadable', `${name}: the ${compression} archive is damaged: ${why}`, {
    cause,
    hint: hints[code] ?? 'copy or export it again',
  });
}
