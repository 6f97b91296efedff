/** Reads a source in a process of its own: how many rows it gave, how it failed, and the most memory that the process had. */
import type { AgentError } from '../../src/core/errors.ts';
import { calm, openSource, queryPart } from './source-world.ts';
import { rowsOf } from './mapping.ts';

const [type = '', keys = '{}', dir = '.'] = process.argv.slice(2);
const settings = JSON.parse(keys) as object;
const source = openSource(type, settings, dir);
const startMb = process.memoryUsage.rss() / 1e6;
let rows = 0;
let charsMax = 0;
let failure: Pick<AgentError, 'message' | 'hint'> | undefined;
try {
  // A look at a query would make its server work once more.
  const [part] = 'query' in settings ? [queryPart] : await source.parts(calm);
  for await (const batch of source.rows(part!, calm)) {
    rows += batch.count;
    const chars = rowsOf(batch)
      .flat()
      .reduce((sum, field) => sum + field.length, 0);
    charsMax = Math.max(charsMax, chars);
  }
} catch (error) {
  const { message, hint } = error as AgentError;
  failure = { message, hint };
}
const peakMb = process.resourceUsage().maxRSS / 1e3;
process.stdout.write(
  JSON.stringify({ rows, charsMax, failure, startMb: Math.round(startMb), peakMb: Math.round(peakMb) }),
);
