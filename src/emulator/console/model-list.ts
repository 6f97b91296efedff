/** A router's list of models as the picker shows it, and back: which are eligible, whichever way the list says so. */
import type { RouterSettings } from '../../contract/routing-settings.ts';

export type ModelList = RouterSettings['models'];

export function isEligible({ mode, ids }: ModelList, model: string): boolean {
  return ids.includes(model) === (mode === 'allowlist_only');
}

export interface Picked {
  /** 'Include newly released models'. */
  readonly includesNew: boolean;
  /** What the picker showed. */
  readonly shown: readonly string[];
  /** Which of those were checked. */
  readonly checked: ReadonlySet<string>;
}

/**
 * The list that says what was picked: what is unchecked as a deny list where new models are included, what is checked as
 * an allow list where not. The switch alone changes nobody's eligibility. Models that have come while the form was open
 * stay as `previous` has them, and those that have left the catalog stay in the list that names them.
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
