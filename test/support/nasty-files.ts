/** Delimited files that are hard to read, drawn from a seed: each with the settings that it is read by. */
import type { PartFile } from '../../src/sources/files/part-file.ts';
import type { DelimitedSettings } from '../../src/sources/formats/delimited.ts';
import { parsePattern } from '../../src/core/mapping/pattern.ts';

export interface NastyFile {
  readonly content: Buffer;
  readonly settings: DelimitedSettings;
  /** How much csv-parse's way reads at once, and how much the scanner. */
  readonly chunkBytes: number;
  readonly blockBytes: number;
  /** Draws what of a column is asked for. */
  readonly draw: Draw;
}

export const plainSettings: DelimitedSettings = { encoding: 'utf-8', delimiter: ',', skipRows: 0, footer: 0 };

/** Numbers from a seed (mulberry32). */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 0 to before `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }
}

const texts = [
  'a',
  'b',
  'ab',
  'North',
  'South',
  'x y',
  ' ',
  '\t',
  ' a ',
  '#a',
  '//',
  'é',
  'ü',
  '\u00a0',
  '\u0085',
  'ÿ',
];
const wide = ['€', '日本', '\ufeff', '𝄞', '\ufffd', '¦'];
const numbers = (
  '0 1 -1 12.50 -12.50 0.5 -0.5 10 100.00 999999999999999 -99999999999999.9 0.00000000000001 ' +
  '-0 -0.00 007 00 .5 5. - -. . +1 1e5 1,5 1\u00a0000 --1 1- 1.2.3 12a ' +
  '1234567890123456 0.123456789012345 -1234567890.123456789 01.5 -01 ٣'
).split(' ');
const quoted = [
  'a,b',
  'a;b',
  'x\ny',
  'x\r\ny',
  'x\ry',
  'say ""hi""',
  '""',
  '""""',
  '\n',
  '\r\n',
  ',',
  '#',
  '\n#a',
  '1.5\n',
  'a""',
];
const soup = [
  '"',
  '""',
  '"a"',
  '"a',
  'a"',
  ',',
  ';',
  '\n',
  '\r\n',
  '\r',
  '\r\r\n',
  '\n\n',
  ' ',
  '#',
  '#a',
  'a',
  '1',
  '-',
  '.',
  '\t',
  '//',
  'é',
];

const delimiters = [',', ',', ',', ',', ';', '\t', '|', ' ', '#', 'a', '1', '.', '-', '¦', '€'];
const encodings = (
  'utf-8 utf-8 utf-8 utf-8 utf-8 utf-8 windows-1252 windows-1252 iso-8859-2 windows-1253 windows-1255 iso-8859-15 koi8-r ' +
  'x-user-defined cp437 cp850 cp949 utf-16le utf-16be gb18030 shift_jis iso-2022-jp'
).split(' ');
const marks = [Buffer.of(0xef, 0xbb, 0xbf), Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)];
const wrongBytes = [0x00, 0xff, 0x80, 0xc3, 0xe2, 0x81, 0xd2, 0xa0, 0x1b];

export function nastyFile(seed: number): NastyFile {
  const draw = new Draw(seed);
  const settings = settingsOf(draw);
  const text = draw.once(8) ? soupOf(draw) : tableOf(draw, settings.delimiter);
  let content = encoded(text, settings.encoding);
  if (draw.once(16)) content = Buffer.concat([draw.one(marks), content]);
  if (draw.once(20) && content.length > 0) content[draw.below(content.length)] = draw.one(wrongBytes);
  if (draw.once(12)) content = content.subarray(0, draw.below(content.length + 1));
  const sizes = [7, 8, 9, 13, 16, 31, 64, 65_536];
  return { content, settings, chunkBytes: draw.one(sizes), blockBytes: draw.one(sizes), draw };
}

function settingsOf(draw: Draw): DelimitedSettings {
  const hasColumns = draw.once(8);
  const skipUntil = draw.once(10) ? parsePattern(draw.one(['a', '^"?a', 'h0', ','])) : undefined;
  return {
    encoding: draw.one(encodings),
    delimiter: draw.one(delimiters),
    skipRows: draw.once(6) ? draw.below(4) : 0,
    skipUntil: skipUntil === undefined || 'problem' in skipUntil ? undefined : skipUntil,
    headerRows: draw.once(4) ? draw.below(hasColumns ? 1 : 4) : undefined,
    columns: hasColumns ? Array.from({ length: 1 + draw.below(4) }, (_, at) => `c${at}`) : undefined,
    footer: draw.once(5) ? draw.below(4) : 0,
    comment: draw.once(3) ? draw.one(['#', '//', '#a', 'é', '€', ' ', 'a', ',', '1', '#日']) : undefined,
  };
}

function soupOf(draw: Draw): string {
  const header = draw.once(2) ? 'h0,h1\n' : '';
  return header + Array.from({ length: draw.below(30) }, () => draw.one(soup)).join('');
}

function tableOf(draw: Draw, delimiter: string): string {
  const width = 1 + draw.below(4);
  const ends = draw.one([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r'], ['\n', '\n', '\n', '\r']]);
  const quotesAll = draw.once(4);
  const dirt = draw.one([4, 30, 1000, 1000]);
  const pool = Array.from({ length: 1 + draw.below(6) }, () => fieldOf(draw, quotesAll));
  const lines = [];
  if (!draw.once(10)) lines.push(Array.from({ length: width }, (_, at) => `h${at}`).join(delimiter));
  const count = draw.below(14);
  for (let row = 0; row < count; row++) {
    const fields = draw.once(dirt) ? draw.below(6) : width;
    lines.push(
      Array.from({ length: fields }, () => (draw.once(3) ? fieldOf(draw, quotesAll) : draw.one(pool))).join(delimiter),
    );
    if (draw.once(20)) lines.push(draw.one(['', '\u00a0', '""']) + delimiter.repeat(draw.below(width + 1)));
    if (draw.once(dirt))
      lines.push(draw.one(['', ' ', '\t ', '" "', '""', '\u00a0', '#a', '#"', '//x', 'é', 'a"b', '"a"b', '"', '""#']));
  }
  const text = lines.map((line) => line + draw.one(ends)).join('');
  return draw.once(5) ? text.slice(0, -1) : text;
}

function fieldOf(draw: Draw, quotesAll: boolean): string {
  if (draw.once(12)) return `"${draw.one(quoted)}"`;
  const kind = draw.below(8);
  const text = kind < 3 ? draw.one(texts) : kind < 6 ? draw.one(numbers) : kind === 6 ? draw.one(wide) : '';
  return quotesAll || draw.once(6) ? `"${text}"` : text;
}

/** What a text editor would write, or nearly so: what has no byte there becomes one that is some other character. */
function encoded(text: string, encoding: string): Buffer {
  if (encoding === 'utf-8' || encoding === 'gb18030') return Buffer.from(text);
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  const bytes = Buffer.from(text, 'latin1');
  for (const [at, byte] of bytes.entries()) if (byte === 0) bytes[at] = 0x7f;
  return bytes;
}

/** A file in memory, as a format reads it. */
export function fileOf(content: Buffer, chunkBytes: number): PartFile {
  const file: Pick<
    PartFile,
    'name' | 'bytes' | 'shared' | 'share' | 'chunks' | 'slice' | 'byteAt' | 'ends' | 'throwIfAborted'
  > = {
    name: 'nasty.csv',
    shared: { file: 'nasty.csv' },
    bytes: content.length,
    share: 1,
    async *chunks(into) {
      for (let at = 0, count = 0; at < content.length; count++) {
        // Whoever keeps a chunk longer than it holds finds another one in it.
        const buffer = into?.[count % into.length] ?? Buffer.alloc(chunkBytes);
        const length = content.copy(buffer, 0, at);
        yield buffer.subarray(0, length);
        at += length;
      }
    },
    throwIfAborted: () => undefined,
    slice: async (start, end) => content.subarray(start, end),
    byteAt: async (offset) => content[offset],
    ends: async () => ({ start: content.subarray(0, 4), end: content.subarray(-2) }),
  };
  return file as PartFile;
}
