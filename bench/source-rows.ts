/**
 * A source of the agent alone: reads the rows of a query, hash and all, to nowhere. With a rule the database collapses them,
 * and only their reading counts, not the start of the process.
 *
 *   node bench/source-rows.ts TYPE URL QUERY [RULE]
 */
import { plainDecimal } from '../src/core/numbers/decimal.ts';
import type { DriverEntry, Mapping } from '../src/core/settings.ts';
import type { Kind } from '../src/sources/kind.ts';
import { template } from '../test/support/templates.ts';

const [type = '', url = '', query = '', rule] = process.argv.slice(2);
const { [type]: kind } = (await import(`../src/sources/${type}.ts`)) as Readonly<Record<string, Kind>>;
if (kind === undefined) throw new Error(`there is no type ${type}`);
const drivers = rule === undefined ? [] : [entry(rule as DriverEntry['rule'])];
const mapping: Mapping = { where: [], missing: [''], unpivot: undefined, fillDown: [], maps: {}, drivers };
const source = kind.open(kind.schema.parse({ url, query, pushdown: rule !== undefined }), {
  name: 'bench',
  baseDir: process.cwd(),
  clock: { now: () => new Date(), monotonicMs: () => performance.now(), sleep: async () => undefined },
  mapping,
  timezone: 'UTC',
});
const { signal } = new AbortController();
const [part] = await source.parts(signal);
const startedMs = performance.now();
let rows = 0;
if (part !== undefined) for await (const batch of source.rows(part, signal)) rows += batch.count;
const seconds = (performance.now() - startedMs) / 1000;
console.log(JSON.stringify(rule === undefined ? { rows } : { seconds }));

function entry(collapse: DriverEntry['rule']): DriverEntry {
  return {
    id: template('revenue/{region}/{product}'),
    path: ['Revenue', '{region}', '{product}'].map(template),
    time: {
      from: template('{date}'),
      format: { formats: ['iso'], locales: ['en'], timezone: undefined, fiscalYear: undefined },
    },
    value: { from: template('{amount}'), format: plainDecimal },
    spread: undefined,
    rule: collapse,
  };
}
