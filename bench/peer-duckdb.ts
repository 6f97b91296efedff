/**
 * DuckDB with two threads: reads a file, keeps the latest value of each driver and month, and fetches the result. What a sync of that file
 * is measured against. Values stay texts, as no number type of DuckDB keeps 24 digits with their zeros.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [file = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const columns =
  "{'date': 'DATE', 'region': 'VARCHAR', 'product': 'VARCHAR', 'scenario': 'VARCHAR', 'amount': 'VARCHAR'}";
const result = await connection.runAndReadAll(`
  SELECT region, product, date_trunc('month', date) AS month, arg_max(amount, date) AS amount
  FROM read_csv('${file.replaceAll("'", "''")}', header = true, columns = ${columns})
  GROUP BY region, product, month`);
console.log(JSON.stringify({ points: result.currentRowCount }));
