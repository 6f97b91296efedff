/** The statement with which the agent has ClickHouse collapse the table `revenue`. */
import type { DriverEntry } from '../src/core/settings.ts';
import { clickhouseUrl } from '../src/sources/databases/clickhouse-address.ts';
import { clickhouseCollapse } from '../src/sources/databases/clickhouse-collapse.ts';
import { connectClickHouse } from '../src/sources/databases/clickhouse-session.ts';
import { mappingOf, revenueEntry } from './open-source.ts';

export async function clickhouseStatement(url: string, query: string, rule: DriverEntry['rule']): Promise<string> {
  const connection = await connectClickHouse(clickhouseUrl.parse(url), undefined, new AbortController().signal);
  try {
    const columns = await connection.describe(query);
    const mapping = mappingOf([revenueEntry(rule)]);
    return (await clickhouseCollapse({ query, columns, mapping, timezone: 'UTC' }, connection)).sql;
  } finally {
    await connection.close();
  }
}
