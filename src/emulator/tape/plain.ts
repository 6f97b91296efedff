/** What a compressed body says: an exchange is written down, masked and looked for by that. */
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { Spool } from './spool.ts';

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * The body itself if it is not compressed; undefined where it cannot be decoded.
 * @param folder where a long one is put.
 */
export async function plainOf(sent: Spool, headers: Headers, folder: string): Promise<Spool | undefined> {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  const body = sent.body();
  if (coding === '' || coding === 'identity' || body === null) return sent;
  const decoder = decoders[coding]?.();
  if (decoder === undefined) return undefined;
  const source = body instanceof Uint8Array ? Readable.from([body]) : body;
  try {
    return await pipeline(source, decoder, (chunks: AsyncIterable<Uint8Array>) => Spool.of(chunks, folder));
  } catch {
    return undefined;
  }
}
