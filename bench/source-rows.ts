/**
 * A source of the agent alone: reads the rows of a query, hash and all, to nowhere. With a rule the database collapses them,
 * and only their reading counts, not the start of the process.
 *
 *   node bench/source-rows.ts TYPE URL QUERY [RULE]
 */
import type { DriverEntry } from '../src/core/settings.ts';
import { openSource, revenueEntry } from './open-source.ts';

const [type = '', url = '', query = '', rule] = process.argv.slice(2);
const drivers = rule === undefined ? [] : [revenueEntry(rule as DriverEntry['rule'])];
const source = openSource(type, { url, query, pushdown: rule !== undefined }, process.cwd(), drivers);
const { signal } = new AbortController();
const [part] = await source.parts(signal);
const startedMs = performance.now();
let rows = 0;
if (part !== undefined) for await (const batch of source.rows(part, signal)) rows += batch.count;
const seconds = (performance.now() - startedMs) / 1000;
console.log(JSON.stringify(rule === undefined ? { rows } : { seconds }));
