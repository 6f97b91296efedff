/** A cluster of ClickHouse: two servers that have half of the rows each, and one that has none and is asked. */
import { type ClickHouseServer, clickhouseServer } from './clickhouse-servers.ts';
import { type Place, clickhouseStatements } from './pushdown-world.ts';

export interface ClickHouseCluster extends AsyncDisposable {
  /** Its table `t` is Distributed. */
  readonly place: Place;
}

/** The servers of a cluster called `books`, without a table. */
export interface ClusterServers extends AsyncDisposable {
  /** They have the rows. */
  readonly shards: readonly ClickHouseServer[];
  readonly asked: ClickHouseServer;
}

export async function clusterServers(): Promise<ClusterServers> {
  const shards = [await clickhouseServer(), await clickhouseServer()];
  const asked = await clickhouseServer({ cluster: shards.map(({ nativePort }) => nativePort) });
  return {
    shards,
    asked,
    async [Symbol.asyncDispose]() {
      await Promise.all([asked, ...shards].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

export async function clickhouseCluster(): Promise<ClickHouseCluster> {
  const servers = await clusterServers();
  const { shards, asked } = servers;
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
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}
