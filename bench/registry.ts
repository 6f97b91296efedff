/** Every measurement by its name. */
import { appends } from './appends.ts';
import { configurations, largeConfigurations } from './configurations.ts';
import { mariadb, postgres, pushdownClickhouse, pushdownMariadb, pushdownPostgres } from './databases.ts';
import { growth } from './growth.ts';
import { handOver } from './hand-over.ts';
import { ledger, scattered } from './ledger.ts';
import type { Measure } from './measurement.ts';
import { push } from './push.ts';
import { records } from './records.ts';
import { responsive } from './responsive.ts';
import { routing } from './routing.ts';
import { snapshots } from './snapshots.ts';
import { idle, unchanged } from './start.ts';
import { statusPage } from './status.ts';
import { support } from './support.ts';
import { values } from './values.ts';
import { workbook } from './xlsx.ts';

interface Measurement {
  /** For `--help`. */
  readonly about: string;
  readonly measure: Measure;
}

export const registry: Readonly<Record<string, Measurement>> = {
  ledger: { about: '11 M rows in the order of days, beside DuckDB, parsers, databases and cp', measure: ledger },
  scattered: { about: 'the same rows in no order, beside DuckDB', measure: scattered },
  configurations: { about: 'ten ways to write and read a million rows, each beside DuckDB', measure: configurations },
  largeConfigurations: { about: 'the same with 11 M rows', measure: largeConfigurations },
  records: { about: 'a million rows of JSON lines and of SQLite', measure: records },
  workbook: { about: '100 000 rows of a workbook, beside read-excel-file', measure: workbook },
  appends: { about: 'a thousand rows more onto 11 M rows, until they are committed', measure: appends },
  responsive: { about: 'how late a timer of the main thread is while threads read 11 M rows', measure: responsive },
  push: { about: 'a snapshot of 6 M points, beside posting bytes that are ready', measure: push },
  values: { about: 'what judging values adds to a pass over 6 M points', measure: values },
  unchanged: { about: 'a sync where nothing changed, beside node -e 0', measure: unchanged },
  idle: { about: 'the memory of a daemon that waits', measure: idle },
  status: {
    about: 'what the status page and its metrics take, and how soon it answers during a pass',
    measure: statusPage,
  },
  support: { about: '`support` of the sample and beside 6 M points', measure: support },
  routing: { about: "the emulator's dry runs, beside bare node:http", measure: routing },
  snapshots: {
    about: "the emulator's snapshots, going back, forks, reset and page of drivers over 6 M points",
    measure: snapshots,
  },
  handOver: { about: 'how long nobody leads a shared ledger when an agent ends, or is killed', measure: handOver },
  postgres: { about: 'a query of PostgreSQL, beside its client', measure: postgres },
  mariadb: { about: 'a query of MariaDB, beside its client', measure: mariadb },
  pushdownPostgres: { about: 'rows collapsed by PostgreSQL, beside a query by hand', measure: pushdownPostgres },
  pushdownMariadb: { about: 'rows collapsed by MariaDB, beside a query by hand', measure: pushdownMariadb },
  pushdownClickhouse: {
    about: '100 M rows collapsed by ClickHouse, beside a query by hand',
    measure: pushdownClickhouse,
  },
  growth: { about: '10 M and 100 M rows of a cluster of ClickHouse, to an acknowledged snapshot', measure: growth },
};
