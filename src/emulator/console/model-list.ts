/** Converts a router's list of models to the checkboxes of the picker and back. */
import type { RouterSettings } from '../../contract/routing-settings.ts';

export type ModelList = RouterSettings['models'];

export function isEligible({ mode, ids }: ModelList, model: string): boolean {
  return ids.includes(model) === (mode === 'allowlist_only');
}

export interface Picked {
  /** The switch 'Include newly released models'. */
  readonly includesNew: boolean;
  /** Models that the picker showed. */
  readonly shown: readonly string[];
  /** Models that were checked. */
  readonly checked: ReadonlySet<string>;
}

/**
 * The list for what was picked: the unchecked models as a deny list if new models are included, else the checked models as
 * an allow list. The switch alone changes no model's eligibility. Models that were added while the form was open stay as in
 * `previous`, and models that have left the catalog stay in the list.
 */
export function listOf(
  { includesNew, shown, checked }: Picked,
  known: readonly string[],
  previous: ModelList,
): ModelList {
  const mode = includesNew ? 'allow_new_except' : 'allowlist_only';
  const wasShown = new Set(shown);
  const named = known.filter((id) => {
    const isPicked = wasShown.has(id) ? checked.has(id) : isEligible(previous, id);
    return isPicked !== includesNew;
  });
  const absent = previous.mode === mode ? previous.ids.filter((id) => !known.includes(id)) : [];
  return { mode, ids: [...named, ...absent] };
}
