/** A cluster of ClickHouse: two servers that have half of the rows each, and one that has none and is asked. */
import { clickhouseServer } from './clickhouse-servers.ts';
import { type Place, clickhouseStatements } from './pushdown-world.ts';

export interface ClickHouseCluster extends AsyncDisposable {
  /** Its table `t` is Distributed. */
  readonly place: Place;
}

export async function clickhouseCluster(): Promise<ClickHouseCluster> {
  const shards = [await clickhouseServer(), await clickhouseServer()];
  const asked = await clickhouseServer({ cluster: shards.map(({ nativePort }) => nativePort) });
  return {
    place: {
      type: 'clickhouse',
      keys: { url: asked.url() },
      dir: '/',
      async write(table) {
        for (const [at, shard] of shards.entries()) {
          const rows = table.rows.map((row, nr) => (nr % shards.length === at ? row : undefined));
          for (const sql of clickhouseStatements({ ...table, rows }, false)) await shard.run(sql);
        }
        const [, made = ''] = clickhouseStatements({ ...table, rows: [] }, false);
        await asked.run('DROP TABLE IF EXISTS t');
        await asked.run(made.replace('ENGINE = Memory', 'ENGINE = Distributed(books, default, t)'));
      },
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([asked, ...shards].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}
