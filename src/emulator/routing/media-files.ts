/** Small real media for clients that download an output. */
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** The longer side of pictures, in pixels. */
const sideMax = 64;

/** A colour as three bytes. */
export type Rgb = readonly [number, number, number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The shape of `<width>:<height>`, small, with even sides. */
export function smallSizeOf(ratio: string): Size {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const scale = sideMax / Math.max(width, height);
  const side = (pixels: number): number => Math.max(2, Math.round((pixels * scale) / 2) * 2);
  return { width: side(width), height: side(height) };
}

/** Different outputs have different colours. */
export function colourOf(seed: string): Rgb {
  const [red = 0, green = 0, blue = 0] = createHash('sha256').update(seed).digest();
  const middle = (byte: number): number => 64 + (byte >> 1);
  return [middle(red), middle(green), middle(blue)];
}

/** A PNG of one colour. */
export function writePng({ width, height }: Size, colour: Rgb): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a channel, RGB.
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.alloc(1), ...Array.from({ length: width }, () => Buffer.from(colour))]);
  const pixels = Buffer.concat(Array.from({ length: height }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

const samplesPerSecond = 8_000;

/** A WAV with a quiet tone of one second: 8 kHz, 8 bits, one channel. */
export function writeWav(toneHz: number): Buffer {
  const samples = Buffer.from(
    Array.from({ length: samplesPerSecond }, (_, at) =>
      Math.round(128 + 32 * Math.sin((2 * Math.PI * toneHz * at) / samplesPerSecond)),
    ),
  );
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  // PCM, one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
