import { describe, expect, test } from 'vitest';
import { plainSelect } from '../../src/sources/databases/clickhouse-select.ts';

describe('a query of ClickHouse that gives one row for each of its tables’ rows', () => {
  test('is taken apart', () => {
    const query = `SELECT region, t.product, toDate(ts) AS day, -- when
      toDecimal64(a >= 1 AND b, 2) * -1 AS \`amount\` FROM books.ledger AS t PREWHERE x IN (SELECT 1 FROM y WHERE z) WHERE a = 'WHERE' OR b /* c */`;
    expect(plainSelect(query)).toEqual({
      items: ['(region)', '(t.product)', '(toDate(ts))', '(toDecimal64(a >= 1 AND b, 2) * -1)'],
      from: 'books.ledger AS t PREWHERE x IN (SELECT 1 FROM y WHERE z)',
      where: "a = 'WHERE' OR b",
    });
  });

  test('may give a value the name of the column that it is made of', () => {
    expect(plainSelect('SELECT toDate(day) AS day, amount FROM t')).toMatchObject({
      items: ['(toDate(day))', '(amount)'],
    });
  });

  test.each([
    ['all columns', 'SELECT * FROM t'],
    ['all columns of a table', 'SELECT t.*, a FROM t'],
    ['an aggregate', 'SELECT sum(a) AS a FROM t'],
    ['groups', 'SELECT a FROM t GROUP BY a'],
    ['distinct rows', 'SELECT DISTINCT a FROM t'],
    ['an order', 'SELECT a FROM t ORDER BY a'],
    ['some rows', 'SELECT a FROM t LIMIT 10'],
    ['a sample', 'SELECT a FROM t SAMPLE 0.1'],
    ['two queries', 'SELECT a FROM t UNION ALL SELECT a FROM u'],
    ['a row for each of an array', 'SELECT a FROM t ARRAY JOIN a'],
    ['a row for each of an array', 'SELECT arrayJoin(a) AS a FROM t'],
    ['another number each time', 'SELECT rand() AS a FROM t'],
    ['a window', 'SELECT toInt64(a) OVER (PARTITION BY b) AS a FROM t'],
    ['a lambda', 'SELECT toString(x -> x) AS a FROM t'],
    ['a subquery', 'SELECT (SELECT max(a) FROM u) AS a FROM t'],
    ['a name without AS', 'SELECT toDate(ts) day FROM t'],
    ['a name that is used elsewhere', 'SELECT toDate(ts) AS day FROM t WHERE day > 1'],
    ['a name that is used elsewhere', 'SELECT a AS `b`, b AS c FROM t'],
    ['one name twice', 'SELECT a AS x, b AS x FROM t'],
    ['settings', 'SELECT a FROM t SETTINGS max_threads = 1'],
    ['common parts', 'WITH 1 AS a SELECT a FROM t'],
    ['no table', 'SELECT 1 AS a'],
    ['two statements', 'SELECT a FROM t; SELECT b FROM u'],
  ])('is none with %s: %s', (_what, query) => {
    expect(plainSelect(query)).toBeUndefined();
  });
});
