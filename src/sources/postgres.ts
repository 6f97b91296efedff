/** `type: postgres`: one query of a PostgreSQL server, or of another that speaks its protocol. */
import { z } from 'zod';
import { addressKeys, caFilePath } from './databases/address.ts';
import type { CollapseRequest } from './databases/collapse-plan.ts';
import { collapseQuery } from './databases/collapse-query.ts';
import type { Connection } from './databases/connection.ts';
import { postgresDialectOf } from './databases/postgres-dialect.ts';
import { queryKeys, queryProblems, querySource } from './databases/query.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({ ...addressKeys({ schemes: ['postgres', 'postgresql'], port: 5432 }), ...queryKeys });

export const postgres = defineKind(
  schema,
  (settings, context) => {
    const caFile = caFilePath(context.baseDir, settings.caFile);
    const engine = {
      collapse: async (request: CollapseRequest, connection: Connection) =>
        collapseQuery(await postgresDialectOf(connection), request),
      place: settings.url.label,
      isServer: true,
      async connect(signal: AbortSignal) {
        const { connectPostgres } = await import('./databases/postgres-session.ts');
        return await connectPostgres(settings.url, caFile, signal);
      },
    };
    return querySource(engine, settings, context);
  },
  { problems: queryProblems },
);
