/** Queries of SQLite that ask for the time or for chance. */
import { expect, test } from 'vitest';
import { isMovingQuery } from '../../src/sources/databases/moving-query.ts';

test.each([
  "SELECT * FROM t WHERE day < date('now')",
  "SELECT * FROM t WHERE day < strftime('%Y-%m', 'NOW', 'start of month')",
  'SELECT * FROM t WHERE day < date("now")',
  'SELECT CURRENT_DATE AS day, a FROM t',
  'SELECT current_timestamp AS day, a FROM t',
  'SELECT a FROM t WHERE at < Current_Time',
  'SELECT a FROM t ORDER BY random() LIMIT 5',
  'SELECT hex(RANDOMBLOB (4)) AS id FROM t',
  'SELECT date() AS day, a FROM t',
  'SELECT julianday( ) - julianday(day) AS age FROM t',
  "SELECT strftime('%Y-%m') AS month, a FROM t",
  "SELECT strftime(replace('%Y %m', ' ', '-')) AS month, a FROM t",
  "SELECT unixepoch('subsec') AS at, a FROM t",
])('runs at each poll: %s', (query) => expect(isMovingQuery(query)).toBe(true));

test.each([
  'SELECT day, a FROM t',
  "SELECT date(day) AS day, strftime('%Y-%m', day) AS month FROM t",
  "SELECT strftime('%Y-%m', coalesce(day, due)) AS month FROM t",
  'SELECT now, random, date FROM t',
  'SELECT t.current_date AS day FROM t',
  "SELECT a FROM t -- WHERE day < date('now')",
  "SELECT a FROM t /* random() */ WHERE b = 'not now'",
])('runs when the file has changed: %s', (query) => expect(isMovingQuery(query)).toBe(false));
