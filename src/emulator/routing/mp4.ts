/**
 * The smallest film that players take: H.264 in MP4, one uncompressed picture (macroblocks of type I_PCM) a second. By
 * ISO/IEC 14496-10 (bit stream), -12 (boxes) and -15 (`avcC`).
 */

export interface Film {
  /** In pixels, even. */
  readonly width: number;
  readonly height: number;
  /** The colour of all of it. No byte of it may be 0. */
  readonly yCbCr: readonly [number, number, number];
  /** Whole seconds, at least one. */
  readonly seconds: number;
}

const blockPixels = 16;

export function writeMp4(film: Film): Buffer {
  // Two pictures in a row must differ in their id, so two are kept and shown by turns.
  const pictures = [0, 1].map((id) => lengthPrefixed(writePicture(film, id)));
  const head = box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'));
  const data = box('mdat', ...pictures);
  return Buffer.concat([head, data, movieBox(film, pictures, head.length + 8)]);
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

/** Constrained baseline, level 1, with what the blocks have too much cut off. */
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
function writePicture(film: Film, id: number): Buffer {
  const [y, cb, cr] = film.yCbCr;
  const samples = Buffer.concat([Buffer.alloc(256, y), Buffer.alloc(64, cb), Buffer.alloc(64, cr)]);
  const bits = new BitWriter().ue(0).ue(7).ue(0).u(0, 4).ue(id).u(0, 2).ue(0);
  const { across, down } = blocksOf(film);
  for (let block = 0; block < across * down; block++) bits.ue(25).aligned(samples);
  return bits.unit(0x65);
}

function movieBox(film: Film, pictures: readonly Buffer[], firstOffset: number): Buffer {
  const { width, height, seconds } = film;
  const matrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));
  const header = fullBox(
    'mvhd',
    u32(0),
    u32(0),
    u32(1),
    u32(seconds),
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
    u32(seconds),
    zeros(16),
    matrix,
    ...size,
  );
  const media = box(
    'mdia',
    // 0x55c4: language undetermined.
    fullBox('mdhd', u32(0), u32(0), u32(1), u32(seconds), u16(0x55c4), u16(0)),
    fullBox('hdlr', u32(0), ascii('vide'), zeros(12), ascii('video\0')),
    box(
      'minf',
      box('vmhd', u32(1), zeros(8)),
      box('dinf', fullBox('dref', u32(1), box('url ', u32(1)))),
      sampleTable(film, pictures, firstOffset),
    ),
  );
  return box('moov', header, box('trak', track, media));
}

function sampleTable(film: Film, pictures: readonly Buffer[], firstOffset: number): Buffer {
  const { width, height, seconds } = film;
  const shown = Array.from({ length: seconds }, (_, second) => second % pictures.length);
  const sizes = pictures.map(({ length }) => length);
  const offsets = [firstOffset, firstOffset + (sizes[0] ?? 0)];
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
    fullBox('stts', u32(1), u32(seconds), u32(1)),
    fullBox('stsc', u32(1), u32(1), u32(1), u32(1)),
    fullBox('stsz', u32(0), u32(seconds), ...shown.map((at) => u32(sizes[at] ?? 0))),
    fullBox('stco', u32(seconds), ...shown.map((at) => u32(offsets[at] ?? 0))),
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
