/** Texts for the columns that name drivers: what the mapping's conditions, maps and patterns let through. */
import { isMatch } from '../../core/mapping/condition.ts';
import type { Condition, Mapping } from '../../core/settings.ts';
import type { Filter, Template } from '../../core/mapping/template.ts';

const plain = ['North', 'South', 'East', 'West', 'Harbour', 'Lake', 'Hill', 'Field'];
const shapes = ['4711', '100200', 'A-1', '2026-03', 'Actual', 'true', '1', 'EUR', 'x'];

/** Texts that a column may hold, the best first; empty where none is known that passes. */
export function textsFor(column: string, mapping: Mapping): readonly string[] {
  const conditions = mapping.where.filter((one) => one.column === column);
  const filters = filtersOn(column, mapping);
  const mapped = filters.flatMap((filter) =>
    filter.name === 'map' ? [Object.entries(mapping.maps[filter.map] ?? {})] : [],
  );
  const ofMaps = mapped.flatMap((entries) => entries.filter(([, text]) => text.trim() !== '').map(([key]) => key));
  const ofConditions = conditions.flatMap(({ test }) => (test.kind === 'oneOf' ? test.texts : []));
  const isOpen = mapped.length === 0 && ofConditions.length === 0;
  const wanted = [...ofConditions, ...ofMaps, ...(isOpen ? [...plain, ...shapes] : [])];
  return [...new Set(wanted)].filter((text) => text.trim() !== '' && passes(text, conditions));
}

function filtersOn(column: string, { drivers }: Mapping): readonly Filter[] {
  const templates = drivers.flatMap(({ id, path }): readonly Template[] => [
    ...(id === undefined ? [] : [id]),
    ...path,
  ]);
  return templates.flatMap(({ pieces }) =>
    pieces.flatMap((piece) => (typeof piece === 'object' && piece.column === column ? piece.filters : [])),
  );
}

function passes(text: string, conditions: readonly Condition[]): boolean {
  return conditions.every(({ test }) => isMatch(test, text));
}
