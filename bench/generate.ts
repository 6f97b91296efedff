/**
 * Files to measure with: the same seed and sizes give the same bytes. Written once to a directory outside the checkout.
 *
 *   node bench/generate.ts long --drivers 10000 --days 100 --order scattered --out /tmp/long.csv
 *   node bench/generate.ts wide --drivers 100000 --months 60 --out /tmp/wide.csv
 */
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

export interface LongFile {
  /** Each has a row a day: region and product are its key, and one of ten is quoted. */
  readonly drivers: number;
  readonly days: number;
  /** `daily`: all drivers of a day after each other, as exports have it. `scattered`: neighbours have nothing in common. */
  readonly order: 'daily' | 'scattered';
  readonly seed: number;
}

export interface WideFile {
  /** Each is a row with a column for each month. */
  readonly drivers: number;
  readonly months: number;
  readonly seed: number;
}

const chunkChars = 1 << 20;
const regions = ['North', 'South', 'East', 'West', 'Overseas'];

/** Writes the file unless it is there. One value of a hundred has 24 digits. */
export function writeLong(file: string, { drivers, days, order, seed }: LongFile): void {
  const keys = Array.from({ length: drivers }, (_, driver) => keyOf(driver));
  const dates = Array.from({ length: days }, (_, day) => dateOf(day));
  const count = drivers * days;
  const stride = order === 'daily' ? 1 : coprimeStride(count);
  writeLines(file, count, {
    header: 'date,region,product,scenario,amount',
    line: (line) => {
      const row = (line * stride) % count;
      const driver = row % drivers;
      const day = (row - driver) / drivers;
      return `${dates[day]},${keys[driver]},Actual,${valueOf(seed, driver, day)}`;
    },
  });
}

/** Writes the file unless it is there. */
export function writeWide(file: string, { drivers, months, seed }: WideFile): void {
  const columns = Array.from({ length: months }, (_, month) => monthOf(month));
  writeLines(file, drivers, {
    header: `region,product,${columns.join(',')}`,
    line: (driver) => {
      const cells = columns.map((_, month) => valueOf(seed, driver, month));
      return `${keyOf(driver)},${cells.join(',')}`;
    },
  });
}

/** The text of the value of a driver at a moment: a decimal with two digits, or one with 24. */
export function valueOf(seed: number, driver: number, moment: number): string {
  const first = mix(seed + mix(driver + mix(moment)));
  const digits = String(first % 10_000_000).padStart(3, '1');
  const short = `${first % 3 === 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  if (first % 100 !== 1) return short;
  const second = String(mix(first)).padStart(10, '1');
  return `9${second}${second.slice(0, 5)}.${second.slice(2)}`;
}

/** Region and product as cells of a delimited line. */
export function keyOf(driver: number): string {
  const product = productOf(driver);
  return `${regionOf(driver)},${product.includes(',') ? `"${product}"` : product}`;
}

export function regionOf(driver: number): string {
  return regions[driver % regions.length] ?? '';
}

export function productOf(driver: number): string {
  return `Beans${driver % 10 === 0 ? ',' : ''} roasted ${String(driver).padStart(6, '0')}`;
}

export function monthOf(month: number): string {
  return new Date(Date.UTC(2020, month, 1)).toISOString().slice(0, 7);
}

export function dateOf(day: number): string {
  return new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10);
}

/** 32 well mixed bits (the finaliser of MurmurHash 3). */
function mix(value: number): number {
  let bits = (value ^ 0x9e3779b9) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Steps that visit each of `count` rows once, far from the one before. Below 2^53 for 10^8 rows. */
function coprimeStride(count: number): number {
  let stride = Math.floor(count * 0.618) | 1;
  while (greatestCommonDivisor(stride, count) !== 1) stride += 2;
  return stride;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

export interface LineFile {
  readonly header?: string;
  readonly line: (index: number) => string;
  /** Default: utf-8. */
  readonly encoding?: 'latin1';
}

/** Writes the file unless it is there. */
export function writeLines(file: string, count: number, { header, line, encoding }: LineFile): void {
  if (existsSync(file)) return;
  const draft = `${file}.draft`;
  const out = openSync(draft, 'w');
  try {
    let text = header === undefined ? '' : `${header}\n`;
    for (let index = 0; index < count; index++) {
      text += `${line(index)}\n`;
      if (text.length < chunkChars) continue;
      writeSync(out, text, undefined, encoding);
      text = '';
    }
    writeSync(out, text, undefined, encoding);
  } finally {
    closeSync(out);
  }
  renameSync(draft, file);
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      drivers: { type: 'string', default: '10000' },
      days: { type: 'string', default: '100' },
      months: { type: 'string', default: '60' },
      order: { type: 'string', default: 'daily' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' },
    },
  });
  const [kind] = positionals;
  const { order, out } = values;
  if ((kind !== 'long' && kind !== 'wide') || out === undefined || (order !== 'daily' && order !== 'scattered')) {
    console.error('usage: node bench/generate.ts long|wide --out FILE [--drivers N] [--days N] [--months N] …');
    process.exit(64);
  }
  const sizes = { drivers: Number(values.drivers), seed: Number(values.seed) };
  if (kind === 'long') writeLong(out, { ...sizes, days: Number(values.days), order });
  else writeWide(out, { ...sizes, months: Number(values.months) });
}

if (import.meta.main) main();
