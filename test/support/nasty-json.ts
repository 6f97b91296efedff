/** Files of JSON records as other programs write them, and as none should. */
import { Draw } from './nasty-files.ts';
import type { JsonLayout } from '../../src/sources/formats/scan/json-scanner.ts';

export interface NastyJson {
  readonly content: Buffer;
  readonly layout: JsonLayout;
  readonly chunkBytes: number;
  readonly blockBytes: number;
  readonly draw: Draw;
}

const texts = (
  'North|South|Süd|日本|😀|a b| |,|}|{"a":1}|[1]|null|12.50|-3|0|1,5|1e5|say \\"hi\\"|\\\\|\\/|a\\\\|\\n|\\t\\r|\\u00e9|\\u0041|\\ud83d\\ude00|' +
  '\\"|x\\u005c|#|//|\u00a0|\ufeff|\u2028|\u007f'
).split('|');
const badTexts = [
  '\\ud83d',
  '\\ude00',
  '\\ud83dx',
  '\\ud83d\\u0041',
  '\\u0000',
  '\\x',
  '\\u12',
  '\\u12g4',
  '\\',
  '\t',
  '\n',
  '\r',
  '\u0001',
];
const numbers = (
  '0 1 -1 12.50 -12.50 0.5 -0.5 10 100.00 999999999999999 -99999999999999.9 0.00000000000001 -0 -0.00 1e5 1E+5 -2.5e-3 ' +
  '1234567890123456 0.1234567890123456 -1234567890.123456789 123456789012345678901234.567800'
).split(' ');
const badNumbers = '007 00 .5 5. - -. +1 1e 1e+ 1.5.2 12a 0x1 -01 NaN Infinity 1_000 ١'.split(' ');
const literals = ['true', 'false', 'null'];
const badValues = [
  'True',
  'nul',
  'tru',
  'nulll',
  'undefined',
  '',
  '[]',
  '[1, "a"]',
  '{}',
  '{"x":1}',
  '{"x":{"y":2},"z":[]}',
  '"a',
  "'a'",
];
const keys = ['date', 'region', 'amount', 'a', 'b', ' a', 'a.x', 'ü', '\\u0061', '', 'a\\"', '__proto__', '€'];
const badKeys = ['\\ud83d', 'a\n', '\\q'];
const wrongBytes = [0x00, 0xff, 0x80, 0xc3, 0x22, 0x5c, 0x0a, 0x7b, 0x7d, 0x5d, 0x2c];
const marks = [Buffer.of(0xef, 0xbb, 0xbf), Buffer.of(0xff, 0xfe)];

export function nastyJson(seed: number): NastyJson {
  const draw = new Draw(seed);
  const layout = draw.once(2) ? 'lines' : 'list';
  const dirt = draw.one([3, 30, 1000, 1000, 1000]);
  const space = spacesOf(draw, layout);
  const names = Array.from({ length: 1 + draw.below(4) }, () => draw.one(keys));
  const pool = Array.from({ length: 1 + draw.below(5) }, () => valueOf(draw, dirt));
  const records = Array.from({ length: draw.below(14) }, () => recordOf(draw, { dirt, space, names, pool }));
  let content = Buffer.from(layout === 'lines' ? linesOf(draw, records, dirt) : listOf(draw, records, { dirt, space }));
  if (draw.once(16)) content = Buffer.concat([draw.one(marks), content]);
  if (draw.once(12) && content.length > 0) content[draw.below(content.length)] = draw.one(wrongBytes);
  if (draw.once(12)) content = content.subarray(0, draw.below(content.length + 1));
  const sizes = [7, 8, 9, 13, 16, 31, 64, 65_536];
  return { content, layout, chunkBytes: draw.one(sizes), blockBytes: draw.one(sizes), draw };
}

type Space = () => string;

function spacesOf(draw: Draw, layout: JsonLayout): Space {
  const some = layout === 'lines' ? [' ', '\t', '\r', '  '] : [' ', '\t', '\r\n', '\n  ', ' '];
  const style = draw.below(3);
  return () => (style === 0 ? '' : style === 1 ? ' ' : draw.once(3) ? draw.one(some) : '');
}

interface RecordStyle {
  readonly dirt: number;
  readonly space: Space;
  readonly names: readonly string[];
  readonly pool: readonly string[];
}

function recordOf(draw: Draw, { dirt, space, names, pool }: RecordStyle): string {
  if (draw.once(dirt))
    return draw.one(['1', '[]', '"a"', 'null', '{', '}', '{"a"}', '{"a":1,}', '{,}', '{"a":1 "b":2}', '{a:1}']);
  let own = draw.once(6) ? names.toReversed() : names;
  if (draw.once(6)) own = own.slice(draw.below(own.length));
  if (draw.once(12)) own = [...own, draw.one(keys)];
  // One key twice is a fault.
  if (!draw.once(dirt)) own = own.filter((name, at) => own.findIndex((one) => nameOf(one) === nameOf(name)) === at);
  const fields = own.map((name) => {
    const key = draw.once(dirt) ? draw.one(badKeys) : name;
    const value = draw.once(2) ? draw.one(pool) : valueOf(draw, dirt);
    return `${space()}"${key}"${space()}:${space()}${value}${space()}`;
  });
  return `${space()}{${fields.join(',') || space()}}${space()}`;
}

function nameOf(key: string): string {
  return (key.includes('\\u') ? 'a' : key).trim();
}

function valueOf(draw: Draw, dirt: number): string {
  if (draw.once(dirt)) {
    return draw.one([() => draw.one(badNumbers), () => draw.one(badValues), () => `"${draw.one(badTexts)}"`])();
  }
  const kind = draw.below(8);
  if (kind < 3) return `"${draw.one(texts)}${draw.once(3) ? draw.one(texts) : ''}"`;
  if (kind < 6) return draw.one(numbers);
  if (kind === 6) return `"${draw.one(numbers)}"`;
  return draw.one(literals);
}

function linesOf(draw: Draw, records: readonly string[], dirt: number): string {
  const ends = draw.one([['\n'], ['\r\n'], ['\n', '\r\n', '\n\n', '\n \t\n']]);
  const lines = records.map(
    (record) => record + (draw.once(dirt) ? draw.one(['', ',', '\r', ' x\n', ',\n']) : draw.one(ends)),
  );
  const text = lines.join('');
  return draw.once(5) ? text.trimEnd() : text;
}

function listOf(draw: Draw, records: readonly string[], { dirt, space }: Pick<RecordStyle, 'dirt' | 'space'>): string {
  const comma = (): string => (draw.once(dirt) ? draw.one(['', ',,', ';', '\n']) : ',');
  const inside = records.map((record, at) => (at === 0 ? record : comma() + record)).join('');
  const tail = draw.once(dirt) ? draw.one(['x', ']', '[]', ',', '{}']) : space();
  return `${space()}[${inside}${records.length === 0 ? space() : ''}${draw.once(dirt) ? ',' : ''}]${tail}`;
}
