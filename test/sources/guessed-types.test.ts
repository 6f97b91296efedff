/** Queries that let DuckDB guess what texts mean, and columns that are no decimals. */
import { describe, expect, test } from 'vitest';
import { binaryNote, isBinaryNumber } from '../../src/sources/databases/binary-columns.ts';
import { guessedTypeNotes } from '../../src/sources/databases/guessed-types.ts';

/** The formats that are guessed. */
const guessed = (query: string): readonly string[] =>
  guessedTypeNotes(query).map((note) => /the types of (\w+) files/.exec(note)?.[1] ?? note);

describe('types are guessed', () => {
  test.each([
    "SELECT * FROM read_csv('x.csv')",
    "SELECT * FROM READ_CSV_AUTO ( 'x.csv', delim = ';' )",
    "SELECT * FROM read_csv('x.csv', all_varchar = false)",
    "SELECT * FROM read_csv('x.csv', all_varchar := FALSE)",
    "SELECT * FROM read_csv('x.csv', dateformat = '%d/%m/%Y') -- all_varchar = true",
    "SELECT * FROM read_csv('a.csv', all_varchar = true) UNION ALL SELECT * FROM read_csv('b.csv')",
    "FROM 'exports/*.csv'",
    'SELECT * FROM "t" JOIN \'x.tsv.gz\' USING (id)',
    "SELECT * FROM 'a.parquet', 'x.CSV'",
  ])('of CSV: %s', (query) => expect(guessed(query)).toEqual(['CSV']));

  test.each(["SELECT * FROM read_json('x.json')", "SELECT * FROM read_ndjson_auto('x')", "FROM 'x.jsonl.zst'"])(
    'of JSON: %s',
    (query) => expect(guessed(query)).toEqual(['JSON']),
  );

  test('of both', () => {
    expect(guessed("SELECT * FROM 'x.csv' JOIN 'y.json' USING (id)")).toEqual(['CSV', 'JSON']);
  });
});

test.each([
  "SELECT * FROM read_csv('x.csv', all_varchar = true)",
  "SELECT * FROM read_csv(['a.csv', 'b.csv'], delim = ',', ALL_VARCHAR := true)",
  "SELECT * FROM read_csv('x.csv', columns = {'day': 'VARCHAR'})",
  "SELECT * FROM read_csv('x.csv', types = {'amount': 'DECIMAL(18, 2)'})",
  "SELECT * FROM read_json('x.json', columns = {day: 'VARCHAR'})",
  "SELECT * FROM read_parquet('books/*.parquet')",
  "SELECT json FROM read_json_objects('x.json')",
  "SELECT * FROM bookings WHERE file = 'x.csv'",
  "SELECT 'x.csv' AS file, read_csv FROM bookings -- read_csv('x.csv')",
])('nothing is guessed: %s', (query) => expect(guessed(query)).toEqual([]));

describe('a column', () => {
  test.each([
    ['DOUBLE', 15],
    ['FLOAT', 6],
    ['float8', 15],
    ['float4', 6],
    ['Float64', 15],
    ['Nullable(Float32)', 6],
    ['Nullable(Float64)', 15],
  ])('of %s keeps %i digits', (type, digits) => {
    expect(isBinaryNumber({ type })).toBe(true);
    expect(binaryNote({ name: ' amount ', type })).toMatch(
      `the column amount is a binary number (${type}), of which only the first ${digits} digits are sure`,
    );
  });

  test.each(['DECIMAL(18,2)', 'numeric(14,2)', 'NEWDECIMAL(14,2)', 'BIGINT', 'VARCHAR', 'DATE', 'floats', ''])(
    'of %j is no binary number',
    (type) => expect(isBinaryNumber({ type })).toBe(false),
  );
});
