/** What `sync` would make of the sources that `check` has read whole: the same steps as a pass, on a copy of the state. */
import type { SourceSettings } from '../../core/settings.ts';
import type { Dependencies } from '../dependencies.ts';
import { prepare } from '../prepare/prepare.ts';
import { withoutForgotten } from '../read-sources.ts';
import { type SourceLook, readSource } from '../read/read-source.ts';
import { review } from '../review/review.ts';
import type { Verdict } from '../review/verdict.ts';
import type { Refusal, SourceCheck } from './check.ts';

/** Adds what `sync` would not accept, and what it would warn of. A source that was not read whole says so itself. `deps`: of a scratch. */
export async function judgeChecked(
  deps: Dependencies,
  checks: readonly SourceCheck[],
  signal: AbortSignal,
): Promise<readonly SourceCheck[]> {
  const judged = new Set(checks.filter(isJudged).map(({ name }) => name));
  if (judged.size === 0) return checks;
  const verdicts = await verdictsOf(deps, judged, signal);
  const of = (name: string): Verdict | undefined => verdicts.find(({ source }) => source === name);
  const known = checks.map((one) => (judged.has(one.name) ? withVerdict(one, of(one.name), judged) : one));
  // A source that was not judged may take over what a removed one had.
  if (judged.size < deps.settings.sources.length) return known;
  const names = new Set(checks.map(({ name }) => name));
  const removed = verdicts.filter(({ source, state }) => !names.has(source) && state === 'held');
  return [...known, ...removed.map((verdict) => withVerdict(nothingOf(verdict.source), verdict, judged))];
}

/** Whatever is wrong with a source already is what has to be mended first. */
function isJudged({ isWhole, error, problems, refusals }: SourceCheck): boolean {
  return isWhole && error === undefined && problems.length === 0 && refusals.length === 0;
}

async function verdictsOf(
  deps: Dependencies,
  judged: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  // A check records no holds: nobody is to approve what only it has seen.
  const holds = { ...deps.ledger.holds, hold: async () => undefined };
  const silent = { ...deps, ledger: { ...deps.ledger, holds } };
  await prepare(silent, { resume: true });
  const looks = await Promise.all(
    deps.settings.sources.map(async (source) =>
      judged.has(source.name) ? await readSource(silent, source, signal) : unread(source),
    ),
  );
  return review(silent, await withoutForgotten(silent, looks));
}

function unread(settings: SourceSettings): SourceLook {
  return { settings, isExpensive: false, state: 'unread', reason: 'it was not judged' };
}

function withVerdict(check: SourceCheck, verdict: Verdict | undefined, judged: ReadonlySet<string>): SourceCheck {
  if (verdict === undefined) return check;
  const { state, reason, hint, conflictsWith, findings, warnings = [] } = verdict;
  const looked = {
    ...check,
    warnings: [...check.warnings, ...warnings],
    ...(findings === undefined ? {} : { findings }),
  };
  if (reason === undefined || (state !== 'held' && state !== 'unread')) return looked;
  if (conflictsWith !== undefined && !judged.has(conflictsWith)) {
    const warning = `it is not known whether sync would accept it, since "${conflictsWith}" was not judged: ${reason}`;
    return { ...looked, warnings: [...looked.warnings, warning] };
  }
  const refusal: Refusal = { message: reason, hint };
  return { ...looked, refusals: [...looked.refusals, refusal] };
}

function nothingOf(name: string): SourceCheck {
  return { name, isWhole: true, readings: [], readingsRead: 0, rejects: [], warnings: [], refusals: [], problems: [] };
}
