/** Ten ways in which ledgers are written and read, each beside DuckDB reading the same file to the same points. */
import { createReadStream, createWriteStream, existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { benchFile, csvKeys, longFile, syncOnce, wideFile } from './agent.ts';
import { type LineFile, dateOf, productOf, regionOf, valueOf, writeLines } from './generate.ts';
import { type Place, type Sizes, type Table, faster, resultOf } from './measurement.ts';
import { comparePeers } from './measure.ts';

interface Configuration {
  readonly name: string;
  readonly file: string;
  /** Keys of the source: its type and where it is. Default: a csv. */
  readonly keys?: readonly string[];
  readonly mapping: readonly string[];
  /** The points of the file, a row each. */
  readonly sql: string;
}

const goal = { must: 1, aim: 2 };
const seed = 1;

export const configurations = (place: Place, sizes: Sizes): Promise<readonly Table[]> =>
  measureEach(place, sizes, sizes.drivers);

/** The same at the size of the ledger: what a process needs to start is less of it. */
export const largeConfigurations = (place: Place, sizes: Sizes): Promise<readonly Table[]> => {
  const { drivers, ledgerDays: days, months } = sizes;
  const rows = drivers * days;
  const wideDrivers = Math.round(rows / months);
  return measureEach(place, { ...sizes, days }, wideDrivers, `, ${Math.round(rows / 1_000_000)} M rows`);
};

/** @param wideDrivers rows of the file whose columns are months */
async function measureEach(place: Place, sizes: Sizes, wideDrivers: number, ending = ''): Promise<readonly Table[]> {
  const tables: Table[] = [];
  for (const { name, file, keys = csvKeys(file), mapping, sql } of await all(place, sizes, wideDrivers)) {
    const [agent, peer] = [`sync, ${name}${ending}`, `DuckDB, ${name}${ending}`];
    const results = await comparePeers(
      [{ name: peer, args: [benchFile('peer-duckdb-sql'), sql] }, syncOnce(place, agent, { keys, mapping })],
      sizes.runs,
    );
    const figure = faster(`${peer},`, resultOf(results, agent), resultOf(results, peer), goal);
    tables.push({ title: `A ledger: ${name}${ending}`, results, figures: [figure] });
  }
  return tables;
}

async function all(place: Place, sizes: Sizes, wideDrivers: number): Promise<readonly Configuration[]> {
  const long = longFile(place, sizes, { days: sizes.days, order: 'daily' });
  const packed = await gzipped(long);
  const wide = wideFile(place, { drivers: wideDrivers, months: sizes.months, seed });
  const lines = rowsFile(place, sizes, 'records.jsonl', {
    line: ({ date, region, product, amount }) =>
      `{"date":"${date}","region":"${region}","product":"${product}","amount":${amount}}`,
  });
  return [
    {
      name: 'where',
      file: long,
      mapping: [...plain, 'where: { region: North }'],
      sql: latest(csvOf(long), "region = 'North'"),
    },
    { name: 'gz', file: packed, mapping: plain, sql: latest(csvOf(packed)) },
    {
      name: 'JSON lines',
      file: lines,
      keys: ['type: jsonl', `files: ["${lines}"]`, 'settle: 0s'],
      mapping: plain,
      sql: latest(`read_json('${lines}', format = 'newline_delimited', columns = ${types('amount')})`),
    },
    {
      name: `${sizes.months} months unpivoted`,
      file: wide,
      mapping: [`unpivot: { columns: '^\\d{4}-\\d{2}$', name: date, value: amount }`, ...plain],
      sql: `SELECT * FROM (UNPIVOT (FROM read_csv('${wide}', header = true, all_varchar = true)) ON COLUMNS(* EXCLUDE (region, product)) INTO NAME month VALUE amount)`,
    },
    ...written(place, sizes),
  ];
}

/** What is special about these is how their rows are written. */
function written(place: Place, sizes: Sizes): readonly Configuration[] {
  const file = (name: string, how: RowsFile): string => rowsFile(place, sizes, name, how);
  const header = 'date,region,product,amount';
  const german = file('accounting.csv', {
    header: header.replaceAll(',', ';'),
    line: ({ date, region, product, amount }) => `${date};${region};${product};${accounting(amount)}`,
  });
  const days = file('days.csv', {
    header,
    line: ({ date, region, product, amount }) =>
      `${date.split('-').toReversed().join('.')},${region},"${product}",${amount}`,
  });
  const measures = file('measures.csv', {
    header: `${header},quantity,cost`,
    line: ({ date, region, product, amount, row }) =>
      `${date},${region},"${product}",${amount},${row % 997},${row % 1009}.25`,
  });
  const western = file('western.csv', {
    header,
    encoding: 'latin1',
    line: ({ date, region, product, amount }) => `${date},${region} Süd,"${product} größer",${amount}`,
  });
  const quoted = file('quoted.csv', {
    header: '"date","region","product","amount"',
    line: ({ date, region, product, amount }) => `"${date}","${region}","${product}","${amount}"`,
  });
  const vouchers = file('vouchers.csv', {
    header: `${header},voucher`,
    share: 0.1,
    line: ({ date, region, product, amount, row }) => `${date},${region},"${product}",${amount},RE-${row}`,
  });
  const unmarked = "replace(replace(trim(amount, '() €'), '.', ''), ',', '.')";
  const driverOf = (measure: string): string =>
    `{ id: "${measure}/{product}", path: [Ledger, ${measure}, "{region}", "{product}"], time: "{date}", value: "{${measure}}" }`;
  return [
    {
      name: 'accounting marks',
      file: german,
      keys: [...csvKeys(german), 'delimiter: ";"'],
      mapping: [
        'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{date}", value: { from: "{amount}", decimal: ",", group: ".", accounting: true } }]',
      ],
      sql: latest(
        `(SELECT * REPLACE (CASE WHEN amount LIKE '(%' THEN '-' ELSE '' END || ${unmarked} AS amount) FROM ${csvOf(german, "delim = ';'")})`,
      ),
    },
    {
      name: 'dd.MM.yyyy',
      file: days,
      mapping: [
        'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: { from: "{date}", format: dd.MM.yyyy }, value: "{amount}" }]',
      ],
      sql: latest(csvOf(days, "dateformat = '%d.%m.%Y'")),
    },
    {
      name: 'three entries',
      file: measures,
      mapping: [`drivers: [${['amount', 'quantity', 'cost'].map(driverOf).join(', ')}]`],
      sql: `UNPIVOT (SELECT region, product, date_trunc('month', date) AS month, ${['amount', 'quantity', 'cost'].map((name) => `arg_max(${name}, date) AS ${name}`).join(', ')} FROM ${csvOf(measures, '', ['amount', 'quantity', 'cost'])} GROUP BY ALL) ON amount, quantity, cost INTO NAME measure VALUE value`,
    },
    {
      name: 'windows-1252',
      file: western,
      keys: [...csvKeys(western), 'encoding: windows-1252'],
      mapping: plain,
      // The bytes of these texts are the same in Latin-1, which DuckDB reads without an extension.
      sql: latest(csvOf(western, "encoding = 'latin-1'")),
    },
    { name: 'quotes in every field', file: quoted, mapping: plain, sql: latest(csvOf(quoted)) },
    {
      name: 'a voucher number in the id',
      file: vouchers,
      mapping: [
        'drivers: [{ id: "{voucher}", path: [Revenue, "{region}", "{product}", "{voucher}"], time: "{date}", value: "{amount}" }]',
      ],
      sql: `SELECT voucher, region, product, date_trunc('month', date) AS month, arg_max(amount, date) FROM ${csvOf(vouchers, '', ['amount', 'voucher'])} GROUP BY ALL`,
    },
  ];
}

const plain = [
  'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{date}", value: "{amount}" }]',
];

/** The latest amount of each driver and month. */
function latest(from: string, where = 'true'): string {
  return `SELECT region, product, date_trunc('month', date) AS month, arg_max(amount, date) AS amount FROM ${from} WHERE ${where} GROUP BY ALL`;
}

/** Values stay texts, as no number type of DuckDB keeps 24 digits with their zeros. */
function csvOf(file: string, options = '', values: readonly string[] = ['amount']): string {
  // Columns that a query does not name have a type too.
  const named = `auto_detect = true, header = true, types = ${types(...values)}`;
  return `read_csv('${file}', ${named}${options === '' ? '' : `, ${options}`})`;
}

function types(...values: readonly string[]): string {
  const texts = ['region', 'product', ...values].map((name) => `'${name}': 'VARCHAR'`);
  return `{'date': 'DATE', ${texts.join(', ')}}`;
}

interface RowFields {
  readonly row: number;
  readonly date: string;
  readonly region: string;
  readonly product: string;
  readonly amount: string;
}

interface RowsFile extends Pick<LineFile, 'header' | 'encoding'> {
  /** Of the rows that the sizes say. */
  readonly share?: number;
  readonly line: (row: RowFields) => string;
}

/** A row a day of each driver, written once. */
function rowsFile({ dataDir }: Place, { drivers, days }: Sizes, name: string, how: RowsFile): string {
  const file = path.join(dataDir, `${drivers}x${days}-${seed}-${name}`);
  const { share = 1, line, ...lines } = how;
  writeLines(file, Math.round(drivers * days * share), {
    ...lines,
    line: (row) => {
      const driver = row % drivers;
      const day = Math.floor(row / drivers);
      const amount = valueOf(seed, driver, day);
      return line({ row, date: dateOf(day), region: regionOf(driver), product: productOf(driver), amount });
    },
  });
  return file;
}

/** `-1234.50` as `(1.234,50)`, and every third of the others with a currency sign. */
function accounting(amount: string): string {
  const [whole = '', fraction = ''] = amount.replace('-', '').split('.');
  const marked = `${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, '.')},${fraction}`;
  if (amount.startsWith('-')) return `(${marked})`;
  return whole.endsWith('3') ? `${marked} €` : marked;
}

async function gzipped(file: string): Promise<string> {
  const packed = `${file}.gz`;
  if (existsSync(packed)) return packed;
  await pipeline(createReadStream(file), createGzip({ level: 6 }), createWriteStream(`${packed}.draft`));
  renameSync(`${packed}.draft`, packed);
  return packed;
}
