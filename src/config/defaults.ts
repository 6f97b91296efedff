/** `defaults:`, what all sources share: a source has each of these keys that it does not write itself. */
import { kinds } from '../sources/index.ts';
import { isMapping } from './cursor.ts';
import { type Path, pathKey } from './diagnostics.ts';
import type { ConfigDocument, Spot, Written, WrittenMap } from './document.ts';
import { kindShape } from './json-schema.ts';
import { sourceShape } from './source-keys.ts';

/** The keys that any source may have. */
export const defaultKeys: readonly string[] = [
  'type',
  'drivers',
  ...Object.keys(sourceShape),
  ...new Set(Object.keys(kinds).flatMap((type) => Object.keys(kindShape(type)))),
];

/**
 * The document as if each source had written these keys, in the places where they stand. A key that only other kinds of sources
 * have, or only another format, is left out.
 */
export function withDefaults(document: ConfigDocument): ConfigDocument {
  const { value } = document;
  const defaults = isMapping(value) ? value['defaults'] : undefined;
  const sources = isMapping(value) ? value['sources'] : undefined;
  const keys = document.spots.get(pathKey(['defaults']))?.keys ?? [];
  if (!isMapping(value) || !isMapping(defaults) || !isMapping(sources)) return document;
  const spots = new Map(document.spots);
  const inside = spotsUnder(document.spots, 'defaults');
  const filled: Record<string, Written> = { ...sources };
  for (const [name, source] of Object.entries(sources)) {
    const at = pathKey(['sources', name]);
    const spot = spots.get(at);
    if (!isMapping(source) || spot === undefined) continue;
    const taken = keys.filter((key) => !(spot.keys ?? []).includes(key) && isKeyOf(source, defaults, key));
    filled[name] = { ...source, ...Object.fromEntries(taken.map((key) => [key, defaults[key]])) };
    spots.set(at, { ...spot, keys: [...(spot.keys ?? []), ...taken] });
    for (const { path, spot: below } of inside) {
      if (taken.includes(String(path[0]))) spots.set(pathKey(['sources', name, ...path]), below);
    }
  }
  return { ...document, value: { ...value, sources: filled }, spots, sections: doubted(document.sections) };
}

function isKeyOf(source: WrittenMap, defaults: WrittenMap, key: string): boolean {
  const type = source['type'] ?? defaults['type'];
  const isKnown = typeof type === 'string' && Object.hasOwn(kinds, type);
  if (isKnown && kinds[type]?.homeOfForeign?.(key, { ...defaults, ...source }) !== undefined) return false;
  return !isKnown || key === 'type' || key === 'drivers' || key in sourceShape || key in kindShape(type);
}

/** By their paths below it. */
function spotsUnder(
  spots: ConfigDocument['spots'],
  section: string,
): readonly { readonly path: Path; readonly spot: Spot }[] {
  const begin = `${pathKey([section]).slice(0, -1)},`;
  return [...spots].flatMap(([key, spot]) =>
    key.startsWith(begin) ? [{ path: (JSON.parse(key) as Path).slice(1), spot }] : [],
  );
}

/** What may be misread in the defaults may be misread in every source. */
function doubted(sections: ConfigDocument['sections']): ConfigDocument['sections'] {
  const isDoubtful = sections.some(({ path, doubtful }) => doubtful && path[0] === 'defaults');
  return isDoubtful
    ? sections.map((section) => (section.path[0] === 'sources' ? { ...section, doubtful: true } : section))
    : sections;
}
