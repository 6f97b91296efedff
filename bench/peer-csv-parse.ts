/** csv-parse alone: reads a file in array mode and counts its rows. What a sync of that file is measured against. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';

const [file = ''] = process.argv.slice(2);
const parser = parse();
let rows = 0;
parser.on('data', () => {
  rows++;
});
await pipeline(createReadStream(file), parser);
console.log(JSON.stringify({ rows }));
