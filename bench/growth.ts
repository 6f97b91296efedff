/** More rows than a disk here holds: two servers of a cluster make them as they are read, a third one is asked, and the agent pushes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readBody } from '../src/simulate/body.ts';
import { type ClusterServers, clusterServers } from '../test/support/clickhouse-cluster.ts';
import { cannotClickhouse } from '../test/support/clickhouse-servers.ts';
import { syncOnce } from './agent.ts';
import { NotMeasured, type Place, type Sizes, type Table } from './measurement.ts';
import { type Result, compare } from './measure.ts';

const keys = 200_000;
/** January and February of 2026: each key has two points. */
const days = 59;
/** Amounts go round, so that their sum is known. */
const amounts = 9973;
const columns = 'account UInt32, day Date, amount Decimal(18, 2)';

const mapping = [
  'pushdown: true',
  'timeout: 2h',
  'drivers: [{ id: "usage/{account}", path: [Usage, "{account}"], time: "{day}", value: "{amount}", collapse: sum }]',
];

/**
 * Each size is run once, since it is long enough; `GROWTH_ROWS=1000000000` adds one more.
 * @throws Error where the sum of what was pushed is not that of the rows
 */
export async function growth(place: Place, { drivers, days: size }: Sizes): Promise<Table> {
  if (cannotClickhouse) throw new NotMeasured('ClickHouse is not installed');
  const rows = drivers * size;
  const more = process.env['GROWTH_ROWS'];
  const counts = [10 * rows, 100 * rows, ...(more === undefined ? [] : [Number(more)])];
  await using cluster = await clusterServers();
  await cluster.asked.run(`CREATE TABLE usage (${columns}) ENGINE = Distributed(books, default, usage)`);
  await using receiver = await summingReceiver();
  const results: Result[] = [];
  const notes: string[] = [];
  for (const count of counts) {
    await makeRows(cluster, count);
    const before = await cpuSeconds(cluster);
    const source = {
      keys: ['type: clickhouse', `url: "${cluster.asked.url()}"`, 'query: SELECT * FROM usage'],
      mapping,
    };
    const [result] = await compare([syncOnce({ ...place, url: receiver.url }, `${count} rows`, source)], 1);
    const sum = sumOf(cluster, count);
    if (receiver.sum() !== sum) throw new Error(`of ${sum} ${receiver.sum()} were pushed`);
    results.push(result!);
    const cpuNs = ((await cpuSeconds(cluster)) - before) * 1e9;
    notes.push(`${count} rows: ${(cpuNs / count).toFixed(1)} ns of the servers' CPU time for each.`);
  }
  return { title: `A cluster of ClickHouse to an acknowledged snapshot of ${keys} drivers`, results, notes };
}

/** Rows that are made anew each time that they are read. */
async function makeRows({ shards }: ClusterServers, rows: number): Promise<void> {
  const made = `SELECT toUInt32(number % ${keys}) AS account, toDate('2026-01-01') + toUInt16(intDiv(number, ${keys}) % ${days}) AS day,
    toDecimal64(number % ${amounts}, 2) AS amount FROM (SELECT number FROM system.numbers LIMIT ${rows / shards.length})`;
  for (const shard of shards) {
    await shard.run('DROP TABLE IF EXISTS usage');
    await shard.run(`CREATE VIEW usage AS ${made}`);
  }
}

/** Of all servers, since they began. */
async function cpuSeconds({ shards, asked }: ClusterServers): Promise<number> {
  const times = "('UserTimeMicroseconds', 'SystemTimeMicroseconds')";
  let seconds = 0;
  for (const server of [asked, ...shards]) {
    const [row] = await server.run(`SELECT sum(value) / 1000000 AS seconds FROM system.events WHERE event IN ${times}`);
    seconds += Number(row?.['seconds']);
  }
  return seconds;
}

/** What all rows of the shards sum up to. */
function sumOf({ shards }: ClusterServers, rows: number): bigint {
  const each = BigInt(rows / shards.length);
  const cycle = BigInt(amounts);
  const sumBelow = (count: bigint): bigint => (count * (count - 1n)) / 2n;
  return BigInt(shards.length) * ((each / cycle) * sumBelow(cycle) + sumBelow(each % cycle));
}

/** Takes snapshots, and adds up the last one. */
async function summingReceiver(): Promise<AsyncDisposable & { readonly url: string; sum(): bigint }> {
  let sum = 0n;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      sum = 0n;
      for (const points of readBody(body).points.values()) {
        for (const value of points.values()) sum += BigInt(value.replace(/\.0+$/, ''));
      }
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sum: () => sum,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
