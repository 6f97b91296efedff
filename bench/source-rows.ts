/**
 * A source of the agent alone: reads the rows of a query, hash and all, to nowhere.
 *
 *   node bench/source-rows.ts TYPE URL QUERY
 */
import type { Kind } from '../src/sources/kind.ts';

const [type = '', url = '', query = ''] = process.argv.slice(2);
const { [type]: kind } = (await import(`../src/sources/${type}.ts`)) as Readonly<Record<string, Kind>>;
if (kind === undefined) throw new Error(`there is no type ${type}`);
const source = kind.open(kind.schema.parse({ url, query }), {
  name: 'bench',
  baseDir: process.cwd(),
  clock: { now: () => new Date(), monotonicMs: () => performance.now(), sleep: async () => undefined },
  mapping: { where: [], missing: [], unpivot: undefined, fillDown: [], maps: {}, drivers: [] },
  timezone: 'UTC',
});
const { signal } = new AbortController();
const [part] = await source.parts(signal);
let rows = 0;
if (part !== undefined) for await (const batch of source.rows(part, signal)) rows += batch.rows.length;
console.log(JSON.stringify({ rows }));
