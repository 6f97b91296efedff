/** Puts a source's candidate together: the parts that were read, and what is carried. */
import { AgentError } from '../../core/errors.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { ChosenPart, PartRead, ReadPart } from '../../core/stores.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { type DatedPart, type Found, type GonePart, carryHistory, carryPart, goneParts, isNewer } from './carried.ts';
import { inheritCarried, removedSources } from './removed-sources.ts';

/**
 * Sets the source's candidate, or drops it where it would equal the accepted read.
 * @returns the parts that are carried from now on
 * @throws AgentError `source.unreadable` where carried data was collapsed by another rule
 */
export function assembleCandidate(
  deps: Dependencies,
  settings: SourceSettings,
  found: Found,
): { disappeared: readonly string[] } {
  const { buffer } = deps;
  const source = settings.name;
  const accepted = buffer.reads.parts(source, 'accepted');
  const gone = settings.removed === 'carry' ? goneParts(deps, accepted ?? [], found) : [];
  const { present, carried } = found.newestOnly
    ? onlyNewest(found.present, gone)
    : { present: found.present, carried: gone };
  buffer.rejects.keepOnly(
    source,
    [...present, ...carried].map(({ name }) => name),
  );
  if (accepted !== undefined && isAccepted(accepted, present, carried)) {
    buffer.reads.drop(source, 'candidate');
  } else {
    const basis = basisOf(deps, { source, present, carried });
    // A held candidate that would be made of the same again stays as it is.
    if (buffer.reads.basis(source, 'candidate') !== basis) {
      const parts = [
        ...present.map(({ id }) => ({ id, carried: false, settled: false })),
        ...carried.map((part) => carryPart(deps, part)),
      ];
      setCandidate(deps, settings, { parts, basis });
    }
  }
  buffer.reads.drop(source, 'partial');
  return { disappeared: carried.filter((part) => part.kind !== 'read' || !part.part.carried).map(({ name }) => name) };
}

/** Where only the newest part counts, one that is gone still counts while nothing newer came. */
function onlyNewest(
  present: readonly PartRead[],
  gone: readonly GonePart[],
): { present: readonly PartRead[]; carried: readonly GonePart[] } {
  const [newest] = gone
    .filter((one) => present.every((other) => isNewer(datedPart(one), other)))
    .sort((a, b) => (isNewer(datedPart(a), datedPart(b)) ? -1 : 1));
  return newest === undefined ? { present, carried: [] } : { present: [], carried: [newest] };
}

function datedPart(gone: GonePart): DatedPart {
  const { revisedAtMs } = gone.kind === 'read' ? gone.part : gone;
  return { name: gone.name, revisedAtMs };
}

function setCandidate(
  deps: Dependencies,
  settings: SourceSettings,
  { parts, basis }: { parts: readonly ChosenPart[]; basis: string },
): void {
  const { buffer } = deps;
  const source = settings.name;
  const history =
    settings.history === 'carry' && buffer.reads.parts(source, 'accepted') !== undefined
      ? carryHistory(deps, settings, { parts, accepted: buffer.reads.drivers(source, 'accepted') })
      : [];
  const own = [...parts, ...history];
  buffer.reads.set(source, 'candidate', own);
  const inherited = inheritCarried(deps, settings, removedSources(deps));
  buffer.reads.set(source, 'candidate', [...own, ...inherited], basis);
  const rules = new Set(settings.mapping.drivers.map(({ rule }) => rule));
  if (rules.size > 1 || inherited.length > 0 || parts.some(({ carried }) => carried)) refuseMixedRules(deps, source);
}

/**
 * Refuses readings of one month that were collapsed by two rules: one rule cannot go on from the other's result. It takes a
 * carried part from before its source's `collapse` changed, or two entries in two files.
 * @throws AgentError `source.unreadable`
 */
function refuseMixedRules({ buffer }: Dependencies, source: string): void {
  const mixed = buffer.reads.mixedRules(source, 'candidate');
  if (mixed === undefined) return;
  const { driver, month, folds } = mixed;
  const [first, second] = folds.map(({ part, rule }) => `${rule} in ${part}`);
  const carried = (buffer.reads.parts(source, 'candidate') ?? []).filter((part) => part.carried);
  const gone = folds.find(({ part }) => carried.some(({ name }) => name === part));
  // Marks them as carried in the accepted read, so that they can be forgotten also where they went in this very pass.
  const isGone = new Set(carried.map(({ id }) => id));
  const accepted = buffer.reads.parts(source, 'accepted');
  if (accepted?.some(({ id, carried: isCarried }) => isGone.has(id) && !isCarried) === true) {
    const parts = accepted.map((part) => ({ ...part, carried: part.carried || isGone.has(part.id) }));
    buffer.reads.set(source, 'accepted', parts);
  }
  throw new AgentError(
    'source.unreadable',
    `driver "${driver}" has two rules in ${formatMonth(month)}: collapse ${first}, and ${second}`,
    {
      hint:
        gone === undefined
          ? 'give the entries that make this id the same collapse, or different ids'
          : `${gone.part} is gone, and what is carried of it cannot be collapsed anew: put it back, or drop it with "driver-sync forget ${source} ${gone.part}"`,
    },
  );
}

/** Everything that a candidate is made from: its parts, and the accepted reads that carried data comes from. */
function basisOf(
  { buffer, settings }: Dependencies,
  { source, present, carried }: { source: string; present: readonly PartRead[]; carried: readonly GonePart[] },
): string {
  const configured = new Set(settings.sources.map(({ name }) => name));
  const accepted = buffer.reads.acceptedSources().filter((name) => name === source || !configured.has(name));
  return JSON.stringify([
    present.map(({ id }) => id),
    carried.map((gone) => (gone.kind === 'read' ? gone.part.id : [gone.snapshot.id, gone.name])),
    accepted.map((name) => [name, buffer.reads.parts(name, 'accepted')?.map(({ id }) => id)]),
  ]);
}

function isAccepted(
  accepted: readonly ReadPart[],
  present: readonly PartRead[],
  carried: readonly GonePart[],
): boolean {
  if (accepted.some(({ kind }) => kind === 'snapshot')) return false;
  const parts = accepted.filter(({ kind }) => kind === 'part');
  if (parts.length !== present.length + carried.length) return false;
  return (
    present.every(({ id }) => parts.some((part) => part.id === id && !part.carried)) &&
    carried.every((gone) => gone.kind === 'read' && gone.part.carried)
  );
}
