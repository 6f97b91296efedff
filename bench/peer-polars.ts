/** Polars with two threads: the latest value of each driver and month of a file, fetched. */
import { createRequire } from 'node:module';

// The package is CommonJS and gives its functions only so.
const { default: pl } = createRequire(import.meta.url)('nodejs-polars') as typeof import('nodejs-polars');

const [file = ''] = process.argv.slice(2);
const columns = ['date', 'region', 'product', 'scenario', 'amount'];
const result = await pl
  .scanCSV(file, { schema: Object.fromEntries(columns.map((name) => [name, pl.Utf8])) })
  .select(
    pl.col('region'),
    pl.col('product'),
    pl.col('date'),
    pl.col('date').str.slice(0, 7).as('month'),
    pl.col('amount'),
  )
  .groupBy(['region', 'product', 'month'])
  .agg(pl.col('amount').gather(pl.col('date').argMax()).first())
  .collect();
console.log(JSON.stringify({ points: result.height }));
