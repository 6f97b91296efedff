/**
 * Parsers of JavaScript, each into one Map: the latest value of each driver and month of a file.
 *
 *   node bench/peer-javascript.ts csv-parse|papaparse|udsv FILE
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

type Parse = (file: string, row: (cells: readonly string[]) => void) => Promise<void>;

const parsers: Readonly<Record<string, Parse>> = {
  async 'csv-parse'(file, row) {
    const { parse } = await import('csv-parse');
    const parser = parse({ from_line: 2 });
    parser.on('data', row);
    await pipeline(createReadStream(file), parser);
  },
  async papaparse(file, row) {
    const { default: papa } = await import('papaparse');
    const parser = papa.parse(papa.NODE_STREAM_INPUT, {});
    let isHeader = true;
    parser.on('data', (cells: readonly string[]) => {
      if (!isHeader) row(cells);
      isHeader = false;
    });
    await pipeline(createReadStream(file), parser);
  },
  async udsv(file, row) {
    const { inferSchema, initParser } = await import('udsv');
    let parser: ReturnType<typeof initParser> | undefined;
    for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
      const text = String(chunk);
      parser ??= initParser(inferSchema(text));
      parser.chunk<string[]>(text, parser.stringArrs, row);
    }
    parser?.end();
  },
};

const [name = '', file = ''] = process.argv.slice(2);
const parse = parsers[name];
if (parse === undefined) throw new Error(`there is no parser ${name}`);
const latest = new Map<string, { date: string; amount: string }>();
await parse(file, ([date = '', region = '', product = '', , amount = '']) => {
  const key = `${region}\t${product}\t${date.slice(0, 7)}`;
  const before = latest.get(key);
  if (before === undefined) latest.set(key, { date, amount });
  else if (before.date <= date) {
    before.date = date;
    before.amount = amount;
  }
});
console.log(JSON.stringify({ points: latest.size }));
