/**
 * Builds the snapshot of each config file it is given and prints their digests and the rows that were read, in the zone of its environment: the
 * command would set its own zone to UTC first, and here nothing may depend on that.
 */
import { openScratch } from '../../src/compose/scratch.ts';
import { plan } from '../../src/app/ask/plan.ts';
import { loadConfig } from '../../src/config/load.ts';
import { memoryLog } from './memory-log.ts';

const built: Record<string, object> = {};
for (const file of process.argv.slice(2)) {
  const { settings, problems } = loadConfig(file, { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error(JSON.stringify(problems));
  await using scratch = await openScratch(settings, memoryLog());
  const { digest, sources } = await plan(scratch.deps, { shownMax: 0 }, new AbortController().signal);
  const [source] = sources;
  built[file] = { digest: source?.reason ?? digest, rows: source?.rows };
}
process.stdout.write(JSON.stringify({ zone: new Date(Date.UTC(2026, 0, 31, 12)).getTimezoneOffset(), built }));
