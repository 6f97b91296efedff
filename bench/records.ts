/** A million rows that are no delimited text, beside the plainest program that reads them to the same points. */
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { benchFile, syncOnce } from './agent.ts';
import { dateOf, productOf, regionOf, valueOf } from './generate.ts';
import { type Place, type Sizes, type Table, resultOf, slower } from './measurement.ts';
import { comparePeers } from './measure.ts';

/**
 * How many times as long as its peer a sync took before rows of these kinds were columns: medians of three, November 2026. The goal is half
 * of it, the aim a quarter.
 */
const timesBefore = { jsonl: 2.7, sqlite: 2.2 };

export async function records(place: Place, sizes: Sizes): Promise<readonly Table[]> {
  const named = path.join(place.dataDir, `records-${sizes.drivers}x${sizes.days}-1`);
  const [lines, database] = [`${named}.jsonl`, `${named}.db`];
  writeLines(lines, sizes);
  writeDatabase(database, sizes);
  const query = 'SELECT date, region, product, amount FROM revenue';
  const kinds = [
    { kind: 'jsonl', peer: 'JSON.parse and a Map', keys: [`files: ["${lines}"]`, 'settle: 0s'], args: [lines] },
    {
      kind: 'sqlite',
      peer: 'better-sqlite3 and a Map',
      keys: [`file: "${database}"`, `query: ${query}`],
      args: [database, query],
    },
  ] as const;
  const tables: Table[] = [];
  for (const { kind, peer, keys, args } of kinds) {
    const results = await comparePeers(
      [
        { name: peer, args: [benchFile('peer-records'), ...args] },
        syncOnce(place, `sync of type ${kind}`, { keys: [`type: ${kind}`, ...keys] }),
      ],
      sizes.runs,
    );
    const times = timesBefore[kind];
    const goal = { must: times / 2, aim: times / 4 };
    tables.push({
      title: `${sizes.drivers * sizes.days} rows of type ${kind}`,
      results,
      figures: [
        slower(`${peer}, type ${kind}`, resultOf(results, `sync of type ${kind}`), resultOf(results, peer), goal),
      ],
    });
  }
  return tables;
}

/** Writes the file unless it is there. */
function writeLines(file: string, { drivers, days }: Sizes): void {
  if (existsSync(file)) return;
  const out = openSync(`${file}.draft`, 'w');
  for (let day = 0; day < days; day++) {
    let text = '';
    for (let driver = 0; driver < drivers; driver++) {
      // The value as its text: no JavaScript number has 24 digits.
      const amount = valueOf(1, driver, day);
      text += `{"date":"${dateOf(day)}","region":"${regionOf(driver)}","product":"${productOf(driver)}","scenario":"Actual","amount":${amount}}\n`;
    }
    writeSync(out, text);
  }
  closeSync(out);
  renameSync(`${file}.draft`, file);
}

/** Writes the database unless it is there. */
function writeDatabase(file: string, { drivers, days }: Sizes): void {
  if (existsSync(file)) return;
  rmSync(`${file}.draft`, { force: true });
  const database = new Database(`${file}.draft`);
  database.exec('CREATE TABLE revenue (date TEXT, region TEXT, product TEXT, scenario TEXT, amount TEXT)');
  const insert = database.prepare('INSERT INTO revenue VALUES (?, ?, ?, ?, ?)');
  database.transaction(() => {
    for (let day = 0; day < days; day++) {
      for (let driver = 0; driver < drivers; driver++) {
        insert.run(dateOf(day), regionOf(driver), productOf(driver), 'Actual', valueOf(1, driver, day));
      }
    }
  })();
  database.close();
  renameSync(`${file}.draft`, file);
}
