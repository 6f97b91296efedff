/** The cost of a query of a database: by its own client, by the agent's source, and as a whole sync. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestServer, mariadbServer, postgresServer } from '../test/support/servers.ts';
import type { Place, Sizes, Table } from './cases.ts';
import { type Program, compare } from './measure.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const bench = (name: string): string => path.join(root, 'bench', `${name}.ts`);

interface Engine {
  readonly type: 'postgres' | 'mysql';
  readonly name: string;
  readonly database: string;
  start(): Promise<TestServer>;
  /** Fills `revenue`: one row for each driver and day, in their order. */
  fill(drivers: number, days: number): string;
  /** The month of `date`, as someone would write it. */
  readonly month: string;
}

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
};

export const postgres = (place: Place, sizes: Sizes): Promise<Table> => measure(postgresEngine, place, sizes);
export const mariadb = (place: Place, sizes: Sizes): Promise<Table> => measure(mariadbEngine, place, sizes);
export const pushdownPostgres = (_place: Place, sizes: Sizes): Promise<readonly Table[]> =>
  measurePushdown(postgresEngine, sizes);
export const pushdownMariadb = (_place: Place, sizes: Sizes): Promise<readonly Table[]> =>
  measurePushdown(mariadbEngine, sizes);

async function measure(engine: Engine, place: Place, { drivers, days, runs }: Sizes): Promise<Table> {
  await using server = await engine.start();
  await server.run(engine.fill(drivers, days), engine.database);
  const query = 'SELECT date, region, product, scenario, amount FROM revenue';
  const url = server.url();
  // So that the table is in memory for the first that is measured.
  await server.run('SELECT count(*), sum(amount) FROM revenue', engine.database);
  const results = await compare(
    [
      { name: `its client alone, ${drivers * days} rows`, args: [bench('peer-database'), url, query] },
      { name: 'rows of the source', args: [bench('source-rows'), engine.type, url, query] },
      { name: 'sync of them', ...syncOnce(place, { engine, url, query }) },
    ],
    runs,
  );
  const notes = ['Goals: at most 1.5 times its client, and below 200 MB.'];
  return { title: `${engine.name} to an acknowledged snapshot`, results, notes };
}

/** Collapsed by the agent's statement, beside statements that someone would write by hand. */
async function measurePushdown(engine: Engine, { drivers, days, runs }: Sizes): Promise<readonly Table[]> {
  await using server = await engine.start();
  await server.run(engine.fill(drivers, days), engine.database);
  await server.run('SELECT count(*), sum(amount) FROM revenue', engine.database);
  const url = server.url();
  const key = `region, product, ${engine.month}`;
  const collapsed = (rule: string): Program => ({
    name: `${rule}, pushdown`,
    args: [bench('source-rows'), engine.type, url, 'SELECT region, product, date, amount FROM revenue', rule],
  });
  const ranked = `SELECT region, product, date, amount, row_number() OVER (PARTITION BY ${key} ORDER BY date DESC) AS nr FROM revenue`;
  const title = `${engine.name}: ${drivers * days} rows to one for each driver and month`;
  const compared = async (rule: string, sql: string): Promise<Table> => {
    const byHand = { name: `${rule}, by hand`, args: [bench('peer-database'), url, sql, '--own'] };
    const results = await compare([byHand, collapsed(rule)], runs);
    return { title, results, notes: ['Goal: at most 1.2 times the query by hand.'] };
  };
  return [
    await compared('sum', `SELECT ${key}, sum(amount), max(date) FROM revenue GROUP BY ${key}`),
    await compared('last', `SELECT region, product, date, amount FROM (${ranked}) AS ranked WHERE nr = 1`),
  ];
}

interface Asked {
  readonly engine: Engine;
  readonly url: string;
  readonly query: string;
}

/** A sync that starts without any state. */
function syncOnce(place: Place, { engine, url, query }: Asked): { args: readonly string[]; before: () => void } {
  const dir = path.join(place.workDir, engine.type);
  const config = path.join(dir, 'driver-sync.yaml');
  const driver =
    '{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{date}", value: "{amount}" }';
  const source = `type: ${engine.type}\n    url: "${url}"\n    query: ${query}\n    drivers:\n      - ${driver}`;
  return {
    args: [path.join(root, 'bin', 'driver-sync.js'), 'sync', '--config', config, '--json'],
    before: () => {
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { recursive: true });
      writeFileSync(config, `destination: { url: "${place.url}" }\nsources:\n  bench:\n    ${source}\n`);
    },
  };
}
