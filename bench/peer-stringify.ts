/**
 * A snapshot the plain way: all drivers as objects, one `JSON.stringify`, one POST. Says how long it took from the
 * objects on, so building them is not counted.
 *
 *   node bench/peer-stringify.ts DRIVERS MONTHS URL
 */
import { createHash } from 'node:crypto';
import { monthOf, valueOf } from './generate.ts';
import { post } from './post.ts';

const [drivers = '', months = '', url = ''] = process.argv.slice(2);
const times = Array.from({ length: Number(months) }, (_, month) => String(Date.parse(`${monthOf(month)}-15`) / 1000));
const extDrivers = Array.from({ length: Number(drivers) }, (_, driver) => ({
  id: `revenue/${driver}`,
  path: ['Revenue', `Driver ${driver}`],
  timeSeries: times.map((time, month) => ({ time, value: valueOf(1, driver, month) })),
}));

const startedMs = performance.now();
const body = Buffer.from(JSON.stringify({ shouldDeleteMissing: true, extDrivers }));
createHash('sha256').update(body).digest();
await post(url, body.length, [body]);
console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000 }));
