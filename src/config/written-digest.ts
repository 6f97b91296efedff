/** What tells one config from another without the values of its variables, which a shell may have otherwise than the daemon. */
import { createHash } from 'node:crypto';
import { isMapping } from './cursor.ts';
import { type Path, pathKey } from './diagnostics.ts';
import type { ConfigDocument, Written } from './document.ts';
import { canonicalJson } from './source.ts';

/** sha256 (hex) of the document as it is written, `${VAR}` and all; comments and the order of keys do not matter. */
export function writtenDigest({ value, spots }: ConfigDocument): string {
  const unfilled = (at: Written, path: Path): unknown => {
    const raw = spots.get(pathKey(path))?.raw;
    if (raw !== undefined) return { raw };
    if (Array.isArray(at)) return at.map((item: Written, index) => unfilled(item, [...path, index]));
    if (!isMapping(at)) return at;
    return Object.fromEntries(Object.entries(at).map(([key, inner]) => [key, unfilled(inner, [...path, key])]));
  };
  return createHash('sha256')
    .update(canonicalJson(unfilled(value, [])))
    .digest('hex');
}
