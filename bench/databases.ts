/** The cost of a query of a database: by its own client, by the agent's source, and as a whole sync. */
import { cannotNewestClickhouse, newestClickhouse } from '../test/support/clickhouse-servers.ts';
import { type TestServer, mariadbServer, postgresServer } from '../test/support/servers.ts';
import { benchFile, syncOnce } from './agent.ts';
import { clickhouseStatement } from './agent-statement.ts';
import { NotMeasured, type Place, type Sizes, type Table, peak, resultOf, slower } from './measurement.ts';
import { type Program, compare } from './measure.ts';

interface Engine {
  readonly type: 'postgres' | 'mysql' | 'clickhouse';
  readonly name: string;
  readonly database: string;
  start(): Promise<TestServer>;
  /** Fills `revenue`: one row for each driver and day, in their order. */
  fill(drivers: number, days: number): string;
  /** The month of `date`, as someone would write it. */
  readonly month: string;
  /** The latest row of each key and month, as someone would write it. */
  readonly latest: (key: string) => string;
  /** What the agent has it run, to be measured by the same client as the statement by hand. */
  readonly statement?: (url: string, query: string, rule: 'sum' | 'last') => Promise<string>;
}

const ranked = (key: string): string => {
  const rows = `SELECT region, product, date, amount, row_number() OVER (PARTITION BY ${key} ORDER BY date DESC) AS nr FROM revenue`;
  return `SELECT region, product, date, amount FROM (${rows}) AS ranked WHERE nr = 1`;
};

const postgresEngine: Engine = {
  type: 'postgres',
  name: 'PostgreSQL',
  database: 'postgres',
  start: () => postgresServer({ settings: ['max_wal_size=4GB'] }),
  fill: (drivers, days) => `CREATE UNLOGGED TABLE revenue AS
    SELECT date '2020-01-01' + day AS date, 'Region ' || driver % 5 AS region, 'Beans roasted ' || driver AS product,
      'Actual' AS scenario, ((driver * 7919 + day * 104729) % 10000000)::numeric(14, 2) / 100 AS amount
    FROM generate_series(0, ${days - 1}) day, generate_series(0, ${drivers - 1}) driver; ANALYZE revenue`,
  month: "date_trunc('month', date)",
  latest: ranked,
};

const mariadbEngine: Engine = {
  type: 'mysql',
  name: 'MariaDB',
  database: 'books',
  start: () => mariadbServer({ settings: ['--innodb-buffer-pool-size=256M'] }),
  fill: (drivers, days) => `CREATE TABLE revenue ENGINE=InnoDB AS
    SELECT date '2020-01-01' + INTERVAL day.seq DAY AS date, concat('Region ', driver.seq % 5) AS region,
      concat('Beans roasted ', driver.seq) AS product, 'Actual' AS scenario,
      cast((driver.seq * 7919 + day.seq * 104729) % 10000000 / 100 AS decimal(14, 2)) AS amount
    FROM seq_0_to_${days - 1} day STRAIGHT_JOIN seq_0_to_${drivers - 1} driver`,
  month: 'year(date), month(date)',
  latest: ranked,
};

/** Each driver has some hundred rows in a month. */
const clickhouseEngine: Engine = {
  type: 'clickhouse',
  name: 'ClickHouse',
  database: 'default',
  start: newestClickhouse,
  fill: (drivers, days) => `CREATE TABLE revenue ENGINE = MergeTree ORDER BY (region, product, date) AS
    SELECT toDate('2018-01-01') + intDiv(number, ${drivers}) % 3043 AS date, toLowCardinality(concat('Region ', toString(driver % 5))) AS region,
      concat('Beans roasted ', toString(driver)) AS product, toDecimal64((driver * 7919 + number * 104729) % 10000000, 2) / 100 AS amount
    FROM (SELECT number, number % ${drivers} AS driver FROM numbers(${drivers * days}))`,
  month: 'toYYYYMM(date)',
  latest: (key) => `SELECT ${key}, argMax(amount, date) FROM revenue GROUP BY ${key}`,
  statement: clickhouseStatement,
};

export const postgres = (place: Place, sizes: Sizes): Promise<Table> => measure(postgresEngine, place, sizes);
export const mariadb = (place: Place, sizes: Sizes): Promise<Table> => measure(mariadbEngine, place, sizes);
export const pushdownPostgres = (_place: Place, sizes: Sizes): Promise<readonly Table[]> =>
  measurePushdown(postgresEngine, sizes);
export const pushdownMariadb = (_place: Place, sizes: Sizes): Promise<readonly Table[]> =>
  measurePushdown(mariadbEngine, sizes);
/** 100 M rows to 101 000 points in a whole run: a tenth of the drivers, a thousand times as many days. */
export const pushdownClickhouse = async (_place: Place, sizes: Sizes): Promise<readonly Table[]> => {
  if (cannotNewestClickhouse) {
    throw new NotMeasured(
      'the newest ClickHouse is not installed: npm ci --prefix test/support/newest-clickhouse --ignore-scripts',
    );
  }
  return await measurePushdown(clickhouseEngine, { ...sizes, drivers: sizes.drivers / 10, days: sizes.days * 1000 });
};

async function measure(engine: Engine, place: Place, { drivers, days, runs }: Sizes): Promise<Table> {
  await using server = await engine.start();
  await server.run(engine.fill(drivers, days), engine.database);
  const query = 'SELECT date, region, product, scenario, amount FROM revenue';
  const url = server.url();
  // So that the table is in memory for the first that is measured.
  await server.run('SELECT count(*), sum(amount) FROM revenue', engine.database);
  const name = `its client alone, ${drivers * days} rows`;
  const results = await compare(
    [
      { name, args: [benchFile('peer-database'), url, query] },
      { name: 'rows of the source', args: [benchFile('source-rows'), engine.type, url, query] },
      syncOnce(place, 'sync of them', { keys: [`type: ${engine.type}`, `url: "${url}"`, `query: ${query}`] }),
    ],
    runs,
  );
  const [client, sync] = [resultOf(results, name), resultOf(results, 'sync of them')];
  return {
    title: `${engine.name} to an acknowledged snapshot`,
    results,
    figures: [
      slower(`the client of ${engine.name}`, sync, client, { must: 1.5 }),
      peak(`${engine.name}: peak of a sync`, sync, { must: 200 }),
    ],
  };
}

/** Collapsed by the agent's statement, beside statements that someone would write by hand. */
async function measurePushdown(engine: Engine, { drivers, days, runs }: Sizes): Promise<readonly Table[]> {
  await using server = await engine.start();
  await server.run(engine.fill(drivers, days), engine.database);
  await server.run('SELECT count(*), sum(amount) FROM revenue', engine.database);
  const url = server.url();
  const key = `region, product, ${engine.month}`;
  const query = 'SELECT region, product, date, amount FROM revenue';
  const collapsed = (rule: string): Program => ({
    name: `${rule}, pushdown`,
    args: [benchFile('source-rows'), engine.type, url, query, rule],
  });
  const title = `${engine.name}: ${drivers * days} rows to one for each driver and month`;
  const compared = async (rule: 'sum' | 'last', sql: string): Promise<Table> => {
    const program = (name: string, statement: string): Program => ({
      name: `${rule}, ${name}`,
      args: [benchFile('peer-database'), url, statement, '--own'],
    });
    const byHand = program('by hand', sql);
    const statement = await engine.statement?.(url, query, rule);
    const own = statement === undefined ? [] : [program("the agent's statement", statement)];
    const results = await compare([byHand, ...own, collapsed(rule)], runs);
    const than = resultOf(results, byHand.name);
    const pushed = resultOf(results, `${rule}, pushdown`);
    const name = `the query by hand, ${rule} by ${engine.name}`;
    // The goal is of the statement alone where that can be measured: a large answer is read in another time.
    const figures =
      own[0] === undefined
        ? [slower(name, pushed, than, { must: 1.2 })]
        : [
            slower(name, resultOf(results, own[0].name), than, { must: 1.2 }),
            slower(`${name}, with its reading`, pushed, than),
          ];
    return { title, results, figures };
  };
  return [
    await compared('sum', `SELECT ${key}, sum(amount), max(date) FROM revenue GROUP BY ${key}`),
    await compared('last', engine.latest(key)),
  ];
}
