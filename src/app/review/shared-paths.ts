/**
 * Drivers of two sources with one path and different ids: nobody can tell them apart at the service. Within one source the comparison of
 * reads finds them (`core/series/compare.ts`).
 */
import type { Dependencies } from '../dependencies.ts';

const warningsMax = 20;

type Names = Pick<Dependencies['buffer']['names'], 'all'>;

/** What people are told of each source whose paths a source before it in the config has. Goes over the names where a read was accepted since. */
export function sharedPathWarnings({
  buffer,
  settings,
}: Pick<Dependencies, 'buffer' | 'settings'>): Readonly<Record<string, readonly string[]>> {
  const sources = settings.sources.map(({ name }) => name);
  const from = JSON.stringify([buffer.reads.revision(), sources]);
  const { sharedPaths } = buffer.state();
  if (sharedPaths?.from === from) return sharedPaths.warnings;
  const warnings = findShared(buffer.names, sources);
  buffer.setState({ sharedPaths: { from, warnings } });
  return warnings;
}

function findShared(names: Names, sources: readonly string[]): Readonly<Record<string, readonly string[]>> {
  if (sources.length < 2) return {};
  const shared = sharedHashes(sources.map((source) => hashesOf(names, source)));
  if (shared.size === 0) return {};
  const owners: Owners = new Map();
  return Object.fromEntries(sources.map((source) => [source, warningsOf(names, source, { shared, owners })]));
}

/** In order. Numbers cost a tenth of what a map of the paths does: 40 ms for 200 000, beside the 120 ms that going over their names takes. */
function hashesOf(names: Names, source: string): Float64Array {
  const hashes: number[] = [];
  for (const { path } of names.all(source)) hashes.push(hashOf(path));
  return Float64Array.from(hashes).sort();
}

/** 53 bits: of 200 000 paths two have one by chance in one of 400 000 cases. */
function hashOf(text: string): number {
  let [high, low] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995);
    low ^= low >>> 13;
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}

/** What more than one of some lists has, each of them in order. */
function sharedHashes(lists: readonly Float64Array[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [at, one] of lists.entries()) {
    for (const other of lists.slice(at + 1)) {
      for (let left = 0, right = 0; left < one.length && right < other.length;) {
        const difference = (one[left] as number) - (other[right] as number);
        if (difference === 0) found.add(one[left] as number);
        if (difference <= 0) left++;
        if (difference >= 0) right++;
      }
    }
  }
  return found;
}

/** By path, the driver that had it first. */
type Owners = Map<string, { readonly source: string; readonly id: string }>;

function warningsOf(
  names: Names,
  source: string,
  { shared, owners }: { readonly shared: ReadonlySet<number>; readonly owners: Owners },
): readonly string[] {
  const shown: string[] = [];
  let count = 0;
  for (const { id, path } of names.all(source)) {
    if (!shared.has(hashOf(path))) continue;
    const owner = owners.get(path);
    if (owner === undefined) owners.set(path, { source, id });
    // An id that two sources have is held elsewhere.
    else if (owner.source !== source && owner.id !== id && count++ < warningsMax)
      shown.push(`drivers "${owner.id}" of source "${owner.source}" and "${id}" of this one have one path, ${path}`);
  }
  return count > shown.length ? [...shown, `and ${count - shown.length} more with a path of another source`] : shown;
}
