import type { Rule } from '../model.ts';

/** Whether every reading counts, and not only the one that is chosen. */
export function isAdding(rule: Rule): boolean {
  return rule === 'sum' || rule === 'average' || rule === 'count';
}
