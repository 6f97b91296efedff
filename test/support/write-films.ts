/**
 * Writes the films of the emulator, which src/emulator/routing/films holds: `node test/support/write-films.ts`.
 * `emulator/films.e2e.test.ts` shows that they are what this writes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filmColours, filmDirectory, filmName, filmShapes } from '../../src/emulator/routing/films.ts';

/** The longer side, in pixels. */
const sideMax = 64;

/** BT.601, limited range. No channel is near its ends, where compressed film has none. */
const yCbCr: Readonly<Record<(typeof filmColours)[number], readonly [number, number, number]>> = {
  blue: [96, 160, 96],
  green: [120, 112, 96],
  orange: [144, 80, 160],
  red: [104, 112, 176],
};

/** All of them, by their names. */
export function writeFilms(): Map<string, Buffer> {
  const films = new Map<string, Buffer>();
  for (const shape of filmShapes) {
    const [across = 1, down = 1] = shape.split(':').map(Number);
    const side = (part: number): number => Math.round((part * sideMax) / Math.max(across, down) / 2) * 2;
    for (const colour of filmColours) {
      films.set(filmName(shape, colour), writeMp4({ width: side(across), height: side(down), yCbCr: yCbCr[colour] }));
    }
  }
  return films;
}

/**
 * The smallest film that players take: H.264 in MP4, one uncompressed picture (macroblocks of type I_PCM) that is shown for
 * a second. By ISO/IEC 14496-10 (bit stream), -12 (boxes) and -15 (`avcC`).
 */

interface Film {
  /** In pixels, even. */
  readonly width: number;
  readonly height: number;
  /** The colour of all of it. No byte of it may be 0. */
  readonly yCbCr: readonly [number, number, number];
}

const blockPixels = 16;

function writeMp4(film: Film): Buffer {
  const picture = lengthPrefixed(writePicture(film));
  const head = box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'));
  return Buffer.concat([
    head,
    box('mdat', picture),
    movieBox(film, { bytes: picture.length, offset: head.length + 8 }),
  ]);
}

/** Bits, most significant first, in the codes of H.264. */
class BitWriter {
  #bits = '';
  readonly #bytes: Buffer[] = [];

  u(value: number, width: number): this {
    this.#bits += value.toString(2).padStart(width, '0');
    return this;
  }

  /** Unsigned Exp-Golomb. */
  ue(value: number): this {
    const digits = (value + 1).toString(2);
    this.#bits += '0'.repeat(digits.length - 1) + digits;
    return this;
  }

  /** Fills the byte with zeros and appends whole ones. */
  aligned(bytes: Buffer): this {
    this.#flush();
    this.#bytes.push(bytes);
    return this;
  }

  /** A NAL unit: the stop bit, and a 3 wherever the bytes might look like the start of a unit. */
  unit(header: number): Buffer {
    this.#bits += '1';
    this.#flush();
    const escaped: number[] = [header];
    let zerosBefore = 0;
    for (const byte of Buffer.concat(this.#bytes)) {
      if (zerosBefore >= 2 && byte <= 3) {
        escaped.push(3);
        zerosBefore = 0;
      }
      escaped.push(byte);
      zerosBefore = byte === 0 ? zerosBefore + 1 : 0;
    }
    return Buffer.from(escaped);
  }

  #flush(): void {
    const padded = this.#bits.padEnd(Math.ceil(this.#bits.length / 8) * 8, '0');
    this.#bytes.push(Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))));
    this.#bits = '';
  }
}

function blocksOf({ width, height }: Film): { across: number; down: number } {
  return { across: Math.ceil(width / blockPixels), down: Math.ceil(height / blockPixels) };
}

/** Constrained baseline, level 1; pixels of the blocks beyond the film's size are cut off. */
function writeSequenceParameters(film: Film): Buffer {
  const { across, down } = blocksOf(film);
  const bits = new BitWriter().u(66, 8).u(0xc0, 8).u(10, 8).ue(0).ue(0).ue(2).ue(0).u(0, 1);
  bits
    .ue(across - 1)
    .ue(down - 1)
    .u(1, 1)
    .u(0, 1);
  bits
    .u(1, 1)
    .ue(0)
    .ue((across * blockPixels - film.width) / 2);
  bits.ue(0).ue((down * blockPixels - film.height) / 2);
  return bits.u(0, 1).unit(0x67);
}

/** CAVLC, one slice group, no weighting, no deblocking control. */
function writePictureParameters(): Buffer {
  return new BitWriter().ue(0).ue(0).u(0, 2).ue(0).ue(0).ue(0).u(0, 3).ue(0).ue(0).ue(0).u(0, 3).unit(0x68);
}

/** An IDR picture in one slice. */
function writePicture(film: Film): Buffer {
  const [y, cb, cr] = film.yCbCr;
  const samples = Buffer.concat([Buffer.alloc(256, y), Buffer.alloc(64, cb), Buffer.alloc(64, cr)]);
  const bits = new BitWriter().ue(0).ue(7).ue(0).u(0, 4).ue(0).u(0, 2).ue(0);
  const { across, down } = blocksOf(film);
  for (let block = 0; block < across * down; block++) bits.ue(25).aligned(samples);
  return bits.unit(0x65);
}

interface Sample {
  readonly bytes: number;
  readonly offset: number;
}

/** One tick is a second. */
const ticks = 1;

function movieBox(film: Film, sample: Sample): Buffer {
  const { width, height } = film;
  const matrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));
  const header = fullBox(
    'mvhd',
    u32(0),
    u32(0),
    u32(1),
    u32(ticks),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    matrix,
    zeros(24),
    u32(2),
  );
  const size = [u32(width * 0x10000), u32(height * 0x10000)];
  const track = box(
    'tkhd',
    // Enabled, in the movie, in its preview.
    u32(7),
    u32(0),
    u32(0),
    u32(1),
    u32(0),
    u32(ticks),
    zeros(16),
    matrix,
    ...size,
  );
  const media = box(
    'mdia',
    // 0x55c4: language undetermined.
    fullBox('mdhd', u32(0), u32(0), u32(1), u32(ticks), u16(0x55c4), u16(0)),
    fullBox('hdlr', u32(0), ascii('vide'), zeros(12), ascii('video\0')),
    box(
      'minf',
      box('vmhd', u32(1), zeros(8)),
      box('dinf', fullBox('dref', u32(1), box('url ', u32(1)))),
      sampleTable(film, sample),
    ),
  );
  return box('moov', header, box('trak', track, media));
}

function sampleTable(film: Film, sample: Sample): Buffer {
  const { width, height } = film;
  const sequence = writeSequenceParameters(film);
  const picture = writePictureParameters();
  const configuration = box(
    'avcC',
    Buffer.from([1, 66, 0xc0, 10, 0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  );
  const resolution = u32(72 * 0x10000);
  const entry = box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width),
    u16(height),
    resolution,
    resolution,
    u32(0),
    u16(1),
    zeros(32),
    u16(24),
    u16(0xffff),
    configuration,
  );
  return box(
    'stbl',
    fullBox('stsd', u32(1), entry),
    fullBox('stts', u32(1), u32(1), u32(ticks)),
    fullBox('stsc', u32(1), u32(1), u32(1), u32(1)),
    fullBox('stsz', u32(0), u32(1), u32(sample.bytes)),
    fullBox('stco', u32(1), u32(sample.offset)),
  );
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), ascii(type), body]);
}

/** A box that begins with its version and flags, here both 0. */
function fullBox(type: string, ...parts: readonly Buffer[]): Buffer {
  return box(type, u32(0), ...parts);
}

function lengthPrefixed(unit: Buffer): Buffer {
  return Buffer.concat([u32(unit.length), unit]);
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function zeros(bytes: number): Buffer {
  return Buffer.alloc(bytes);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

if (import.meta.main) {
  mkdirSync(filmDirectory, { recursive: true });
  for (const [name, film] of writeFilms()) writeFileSync(join(filmDirectory, name), film);
}
