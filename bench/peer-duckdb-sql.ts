/**
 * DuckDB with two threads: a query, and its result fetched.
 *
 *   node bench/peer-duckdb-sql.ts QUERY
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [sql = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const result = await connection.runAndReadAll(sql);
console.log(JSON.stringify({ points: result.currentRowCount }));
