/** `type: clickhouse`: one query of a ClickHouse server or cluster, over its HTTP interface. */
import { z } from 'zod';
import { caFilePath } from './databases/address.ts';
import { clickhouseUrl } from './databases/clickhouse-address.ts';
import { clickhouseCollapse } from './databases/clickhouse-collapse.ts';
import { queryKeys, queryProblems, querySource } from './databases/query.ts';
import { defineKind } from './kind.ts';
import { filePath } from './path-key.ts';

const schema = z.strictObject({
  url: clickhouseUrl,
  caFile: filePath
    .optional()
    .describe("A PEM file of further authorities for the server's certificate, relative to the config file."),
  ...queryKeys,
});

export const clickhouse = defineKind(
  schema,
  (settings, context) => {
    const caFile = caFilePath(context.baseDir, settings.caFile);
    const engine = {
      collapse: clickhouseCollapse,
      place: settings.url.label,
      isServer: true,
      async connect(signal: AbortSignal) {
        const { connectClickHouse } = await import('./databases/clickhouse-session.ts');
        return await connectClickHouse(settings.url, caFile, signal);
      },
    };
    return querySource(engine, settings, context);
  },
  { problems: queryProblems },
);
