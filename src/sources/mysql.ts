/** `type: mysql`: one query of a MySQL or MariaDB server, or of another that speaks their protocol. */
import { z } from 'zod';
import { addressKeys, caFilePath } from './databases/address.ts';
import type { CollapseRequest } from './databases/collapse-plan.ts';
import { collapseQuery } from './databases/collapse-query.ts';
import { mysqlDialect } from './databases/mysql-dialect.ts';
import { queryKeys, queryProblems, querySource } from './databases/query.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({ ...addressKeys({ schemes: ['mysql', 'mariadb'], port: 3306 }), ...queryKeys });

export const mysql = defineKind(
  schema,
  (settings, context) => {
    const caFile = caFilePath(context.baseDir, settings.caFile);
    const engine = {
      collapse: (request: CollapseRequest) => collapseQuery(mysqlDialect, request),
      place: settings.url.label,
      isServer: true,
      async connect(signal: AbortSignal) {
        const { connectMySql } = await import('./databases/mysql-session.ts');
        return await connectMySql(settings.url, caFile, signal);
      },
    };
    return querySource(engine, settings, context);
  },
  { problems: queryProblems },
);
