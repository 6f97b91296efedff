import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/core/errors.ts';
import type { Rule } from '../../src/core/model.ts';
import { clickhouseCollapse } from '../../src/sources/databases/clickhouse-collapse.ts';
import { entry, mapping } from '../support/row-world.ts';

const usual = { region: 'String', day: 'Date', amount: 'Decimal(12, 2)' };

/** The statement for a query with such columns. @param fails statements that the server cannot run */
async function statementFor(
  query: string,
  { types = usual, rule = 'sum', fails = /never/ }: { types?: Partial<typeof usual>; rule?: Rule; fails?: RegExp } = {},
): Promise<string> {
  const columns = Object.entries({ ...usual, ...types }).map(([name, type]) => ({ name, type }));
  const ofRegion = mapping([entry({ path: ['{region}'], time: '{day}', rule })]);
  const connection = {
    describe: async (sql: string) => {
      if (fails.test(sql)) throw new AgentError('part.unreadable', 'no such function');
      return columns;
    },
  };
  const { sql } = await clickhouseCollapse({ query, columns, mapping: ofRegion, timezone: 'UTC' }, connection);
  return sql.replaceAll(/\s+/g, ' ');
}

describe('a query of ClickHouse is collapsed', () => {
  test('at its table where it is a plain SELECT, so that each server of a cluster groups its own rows', async () => {
    const sql = await statementFor('SELECT region, toDate(ts) AS day, amount FROM ledger WHERE a OR b');
    expect(sql).toMatch(/ FROM ledger WHERE \( a OR b \) GROUP BY /);
    expect(sql.match(/\bSELECT\b/g)).toHaveLength(2);
  });

  test.each([
    ['it has an order, which numbers the rows', 'SELECT region, day, amount FROM ledger ORDER BY day', 'last', /never/],
    ['it groups itself', 'SELECT region, day, sum(amount) AS amount FROM ledger GROUP BY region, day', 'sum', /never/],
    ['the server cannot group there', 'SELECT region, day, amount FROM ledger', 'sum', /FROM ledger GROUP BY/],
  ] as const)('around the query where %s', async (_what, query, rule, fails) => {
    expect(await statementFor(query, { rule, fails })).toContain(`FROM ( ${query} ))`);
  });

  test('without numbering rows that have no order', async () => {
    expect(await statementFor('SELECT * FROM ledger', { rule: 'last' })).not.toContain('rowNumberInAllBlocks');
  });
});

describe('a column that ClickHouse cannot collapse exactly', () => {
  test.each([
    [
      'Float64',
      /^the column amount is of type Float64, and pushdown takes only an exact number there$/,
      /^write toDecimal64\(amount, 2\) AS amount in the query with all digits/,
    ],
    ['Nullable(String)', /is of type Nullable\(String\)/, /toDecimal64/],
  ])('is refused with the cast to write: a value of type %s', async (amount, message, hint) => {
    await expect(statementFor('SELECT * FROM t', { types: { amount } })).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  test('is refused where it is a time: a text', async () => {
    await expect(statementFor('SELECT * FROM t', { types: { day: 'String' } })).rejects.toMatchObject({
      hint: 'write toDate(day) AS day in the query, or leave pushdown out',
    });
  });

  test('is refused where an old server has no type that is wide enough for a sum', async () => {
    const types = { amount: 'Decimal(38, 20)' };
    expect(await statementFor('SELECT * FROM t', { types })).toContain('sum(toDecimal256(');
    await expect(statementFor('SELECT * FROM t', { types, fails: /toDecimal256/ })).rejects.toMatchObject({
      code: 'part.unreadable',
      message: 'the column amount has more digits than are sure to be added up exactly',
      hint: expect.stringContaining('toDecimal128(amount, 10) AS amount'),
    });
  });
});
