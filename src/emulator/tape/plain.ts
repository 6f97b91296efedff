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

/** Whether all codings of a body are known here, or it has none. */
export function isDecodable(headers: Headers): boolean {
  return codingsOf(headers).every((coding) => decoders[coding] !== undefined);
}

/** The codings that a client accepts, without those of which nobody could be told later what they said. */
export function decodableOf(acceptEncoding: string): string {
  const isKnown = (coding = ''): boolean => coding === 'identity' || decoders[coding] !== undefined;
  const known = acceptEncoding.split(',').filter((part) => isKnown(part.split(';')[0]?.trim().toLowerCase()));
  return known.length === 0 ? 'identity' : known.join(',').trim();
}

/**
 * The body itself if it is not compressed; undefined where it cannot be decoded.
 * @param folder where a long one is put.
 */
export async function plainOf(sent: Spool, headers: Headers, folder: string): Promise<Spool | undefined> {
  let plain: Spool | undefined = sent;
  // The last of them was applied last.
  for (const coding of sent.bytes === 0 ? [] : codingsOf(headers).toReversed()) {
    const coded: Spool = plain;
    plain = await decoded(coded, decoders[coding], folder);
    if (coded !== sent) await coded[Symbol.asyncDispose]();
    if (plain === undefined) return undefined;
  }
  return plain;
}

function codingsOf(headers: Headers): string[] {
  const named = (headers.get('content-encoding') ?? '').split(',').map((coding) => coding.trim().toLowerCase());
  return named.filter((coding) => coding !== '' && coding !== 'identity');
}

async function decoded(coded: Spool, decoder: (() => Duplex) | undefined, folder: string): Promise<Spool | undefined> {
  const body = coded.body();
  if (body === null || decoder === undefined) return undefined;
  const source = body instanceof Uint8Array ? Readable.from([body]) : body;
  try {
    return await pipeline(source, decoder(), (chunks: AsyncIterable<Uint8Array>) => Spool.of(chunks, folder));
  } catch {
    return undefined;
  }
}
