/** Puts candidates together once all sources were read: the parts that are present, and what is carried. */
import { AgentError, isAgentError } from '../../core/errors.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import { shellWord } from '../../core/text.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import type { SourceSettings } from '../../core/settings.ts';
import type { PartRead, ReadPart } from '../../core/buffer.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedParts } from './accepted-parts.ts';
import {
  type Found,
  type PartToCarry,
  acceptedWithout,
  carryHistory,
  carryPart,
  goneParts,
  isNewer,
  takenOut,
  wasCarried,
} from './carried.ts';
import { acceptedReadBy, writeBasis } from './read-by.ts';
import { type SourceLook, type SourceRead, type WholeLook, keepPartial } from './read-source.ts';
import { type Takeover, findTakeovers } from './removed-sources.ts';
import { type Yielded, findYielded, withoutYielded } from './yielded.ts';

/**
 * Sets the candidates of all sources that were read: only then is it known who takes over what of a removed source.
 * @param forgotten parts that are not carried any more, by source
 */
export function assembleCandidates(
  deps: Dependencies,
  looks: readonly SourceLook[],
  forgotten: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): SourceRead[] {
  const reads = looks.flatMap((look) =>
    look.state === 'read' ? [{ source: look.settings.name, found: look.found }] : [],
  );
  const takeovers = findTakeovers(deps, reads);
  const gathered = new Map(
    looks.flatMap((look) => {
      if (look.state === 'unread') return [];
      const { settings, found, readBy } = look;
      const of = {
        found,
        takeovers: takeovers.get(settings.name) ?? [],
        readBy,
        forgotten: forgotten.get(settings.name),
      };
      return [[settings.name, gather(deps, settings, of)] as const];
    }),
  );
  const yielded = findYielded(
    deps,
    [...gathered].map(([source, one]) => ({ source, ...one })),
  );
  const movedTo = (taker: string): readonly MovedIn[] =>
    [...yielded].flatMap(([from, { to }]) => {
      const drivers = gathered.get(from)?.hasHistory === true ? to.get(taker) : undefined;
      return drivers === undefined ? [] : [{ from, drivers }];
    });
  return looks.map((look) => {
    if (look.state === 'unread') return look;
    const { settings, isExpensive, found } = look;
    const { name } = settings;
    try {
      const movedIn = settings.history === 'carry' ? movedTo(name) : [];
      const all = yielding(deps, { ...gathered.get(name)!, movedIn }, yielded.get(name));
      const { disappeared } = assemble(deps, settings, all);
      return { ...look, disappeared };
    } catch (error) {
      if (!isAgentError(error, 'source.unreadable')) throw error;
      keepPartial(deps, settings.name, found.present);
      return { settings, isExpensive, state: 'unread', reason: error.message, hint: error.hint };
    }
  });
}

interface Gathered {
  readonly present: readonly PartRead[];
  readonly carried: readonly PartToCarry[];
  readonly takeovers: readonly Takeover[];
  readonly readBy: WholeLook['readBy'];
  /** Names of its parts that it does not carry any more. */
  readonly forgotten: ReadonlySet<string> | undefined;
  /** It carries months that the export does not show. */
  readonly hasHistory: boolean;
  readonly yielded: Yielded;
  /** What other sources carried of drivers that it has now: it carries that on. */
  readonly movedIn: readonly MovedIn[];
}

interface MovedIn {
  readonly from: string;
  readonly drivers: ReadonlySet<string>;
}

type Gathering = Pick<Gathered, 'takeovers' | 'readBy' | 'forgotten'> & { readonly found: Found };

function gather(
  deps: Dependencies,
  { name, removed, history }: SourceSettings,
  { found, takeovers, readBy, forgotten }: Gathering,
): Gathered {
  const all = removed === 'carry' ? goneOf(deps, name, { found, takeovers }) : [];
  const gone = all.filter((part) => forgotten?.has(part.name) !== true);
  const { present, carried } = found.newestOnly
    ? onlyNewest(found.present, gone)
    : { present: found.present, carried: gone };
  const hasAccepted = takeovers.length > 0 || deps.buffer.reads.parts(name, 'accepted') !== undefined;
  const hasHistory = history === 'carry' && hasAccepted;
  return { present, carried, takeovers, readBy, forgotten, hasHistory, yielded: nothing, movedIn: [] };
}

const nothing: Yielded = { drivers: new Set(), to: new Map(), by: [] };

function yielding(deps: Dependencies, gathered: Gathered, yielded: Yielded = nothing): Gathered {
  const hasHistory = gathered.hasHistory || gathered.movedIn.length > 0;
  return { ...gathered, hasHistory, carried: withoutYielded(deps, gathered.carried, yielded.drivers), yielded };
}

/**
 * Sets the source's candidate, or drops it where it would equal the accepted read.
 * @returns the parts that are carried from now on
 * @throws AgentError `source.unreadable` where what is carried and what is present do not go together
 */
function assemble(
  deps: Dependencies,
  settings: SourceSettings,
  gathered: Gathered,
): { disappeared: readonly string[] } {
  const { buffer } = deps;
  const source = settings.name;
  const { present, carried, readBy } = gathered;
  buffer.rejects.keepOnly(
    source,
    [...present, ...carried].map(({ name }) => name),
  );
  const accepted = buffer.reads.parts(source, 'accepted');
  if (accepted !== undefined && isAccepted(accepted, gathered)) {
    buffer.reads.drop(source, 'candidate');
    // An older version accepted it. Its parts would have been read again had the settings changed.
    if (present.length > 0 && acceptedReadBy(buffer, source) === undefined) {
      buffer.reads.keepBasis(source, 'accepted', writeBasis({ readBy: readBy() }));
    }
  } else {
    const basis = basisOf(deps, source, gathered);
    // A held candidate that would be made of the same again stays as it is.
    if (buffer.reads.basis(source, 'candidate') !== basis) setCandidate(deps, settings, { ...gathered, basis });
  }
  buffer.reads.drop(source, 'partial');
  return { disappeared: carried.filter((part) => !wasCarried(part)).map(({ name }) => name) };
}

/**
 * The accepted parts that are gone: its own, those that a removed source carried, and, where the removed source was the same
 * place under another key, those that went while it was renamed.
 */
function goneOf(
  { buffer }: Dependencies,
  source: string,
  { found, takeovers }: { readonly found: Found; readonly takeovers: readonly Takeover[] },
): readonly PartToCarry[] {
  const own: readonly PartToCarry[] = acceptedParts(buffer, source);
  const others = takeovers.flatMap(({ parts, drivers, isSamePlace }) =>
    parts.map((part) => ({ ...part, drivers, isLeftBehind: !isSamePlace && !wasCarried(part) })),
  );
  const gone = goneParts<PartToCarry & { readonly isLeftBehind?: boolean }>([...own, ...others], found);
  return gone.filter((part) => part.isLeftBehind !== true && !isEmptied(buffer, part));
}

/** Nothing is left of a part that was only known from sums, once somebody approved to go on without it. */
function isEmptied(buffer: Dependencies['buffer'], gone: PartToCarry): boolean {
  if (gone.kind !== 'read' || gone.part.version !== takenOut.inPart || !gone.part.settled) return false;
  return buffer.parts.earliestMonth([gone.part.id]) === undefined;
}

/** Where only the newest part counts, one that is gone still counts while nothing newer came. */
function onlyNewest(present: readonly PartRead[], gone: readonly PartToCarry[]): Pick<Gathered, 'present' | 'carried'> {
  const [newest] = gone
    .filter((one) => present.every((other) => isNewer(one, other)))
    .sort((a, b) => (isNewer(a, b) ? -1 : 1));
  return newest === undefined ? { present, carried: [] } : { present: [], carried: [newest] };
}

function setCandidate(
  deps: Dependencies,
  settings: SourceSettings,
  {
    present,
    carried,
    takeovers,
    forgotten,
    hasHistory,
    yielded,
    movedIn,
    basis,
  }: Gathered & { readonly basis: string },
): void {
  const { buffer } = deps;
  const source = settings.name;
  const parts = [
    ...present.map(({ id }) => ({ id, carried: false, settled: false })),
    ...carried.map((part) => carryPart(deps, source, part)),
  ];
  // Without its basis, so that it is made anew where the process ends before its history is there.
  if (hasHistory) buffer.reads.set(source, 'candidate', parts, '');
  const read = buffer.reads.drivers(source, 'candidate');
  const history = hasHistory
    ? carryHistory(deps, settings, {
        parts: buffer.reads.parts(source, 'candidate') ?? [],
        accepted: acceptedRuns(deps, source, { takeovers, forgotten, yielded, movedIn }),
        read,
      })
    : [];
  buffer.reads.set(source, 'candidate', [...parts, ...history], basis);
  const rules = new Set(settings.mapping.drivers.map(({ rule }) => rule));
  if (rules.size > 1 || takeovers.length > 0 || carried.length > 0) {
    refuseMixedRules(deps, source, [source, ...takeovers.map(({ from }) => from)]);
  }
}

/** All that a source had accepted and does not yield, what it takes over, and what others had of drivers that moved to it. */
function acceptedRuns(
  { buffer }: Dependencies,
  source: string,
  { takeovers, forgotten, yielded, movedIn }: Pick<Gathered, 'takeovers' | 'forgotten' | 'yielded' | 'movedIn'>,
): Iterable<PackedDriver> {
  const accepted =
    forgotten === undefined ? buffer.reads.drivers(source, 'accepted') : acceptedWithout({ buffer }, source, forgotten);
  const own = only(accepted, (id) => !yielded.drivers.has(id));
  const others = [...takeovers, ...movedIn].map(({ from, drivers }) =>
    only(buffer.reads.drivers(from, 'accepted'), (id) => drivers?.has(id) !== false),
  );
  return mergeDriverRuns([own, ...others]);
}

function* only(drivers: Iterable<PackedDriver>, isWanted: (id: string) => boolean): Generator<PackedDriver> {
  for (const driver of drivers) if (isWanted(driver.id)) yield driver;
}

/**
 * Refuses readings of one month that were collapsed by two rules: one rule cannot go on from the other's result. It takes a
 * carried part from before its source's `collapse` changed, or two entries in two files.
 * @throws AgentError `source.unreadable`
 */
function refuseMixedRules({ buffer }: Dependencies, source: string, owners: readonly string[]): void {
  const mixed = buffer.reads.mixedRules(source, 'candidate');
  if (mixed === undefined) return;
  const { driver, month, folds } = mixed;
  const [first, second] = folds.map(({ part, rule }) => `${rule} in ${part}`);
  const carried = (buffer.reads.parts(source, 'candidate') ?? []).filter((part) => part.carried);
  const gone = folds.find(({ part }) => carried.some(({ name }) => name === part))?.part;
  let owner = source;
  // Marks it as carried in the accepted read, so that it can be forgotten also where it went in this very pass.
  for (const name of gone === undefined ? [] : owners) {
    const accepted = buffer.reads.parts(name, 'accepted') ?? [];
    if (accepted.every((part) => part.name !== gone)) continue;
    owner = name;
    if (accepted.every((part) => part.carried || part.name !== gone)) continue;
    const parts = accepted.map((part) => ({ ...part, carried: part.carried || part.name === gone }));
    buffer.reads.set(name, 'accepted', parts, buffer.reads.basis(name, 'accepted'));
  }
  throw new AgentError(
    'source.unreadable',
    `driver "${driver}" has two rules in ${formatMonth(month)}: collapse ${first}, and ${second}`,
    {
      hint:
        gone === undefined
          ? 'give the entries that make this id the same collapse, or different ids'
          : `${gone} is gone, and what is carried of it cannot be collapsed anew: put it back, or drop it with "driver-sync forget ${owner} ${shellWord(gone)}"`,
    },
  );
}

/** Everything that a candidate is made from: its parts, and the accepted reads that carried data comes from. */
function basisOf(
  { buffer }: Dependencies,
  source: string,
  { present, carried, takeovers, yielded, movedIn, readBy }: Gathered,
): string {
  const madeOf = [
    present.map(({ id }) => id),
    carried.map((gone) => (gone.kind === 'read' ? gone.part.id : [gone.snapshot.id, gone.name])),
    (buffer.reads.parts(source, 'accepted') ?? []).map(({ id }) => id),
    takeovers.map(({ from, isSamePlace, drivers }) => [from, isSamePlace, drivers === undefined]),
    // A removed source gives drivers to others, too.
    takeovers.length === 0 ? 0 : buffer.reads.revision(),
    ...yielded.by,
    ...movedIn.map(({ from }) => [from, (buffer.reads.parts(from, 'accepted') ?? []).map(({ id }) => id)]),
  ];
  return writeBasis({ readBy: readBy(), madeOf });
}

function isAccepted(accepted: readonly ReadPart[], { present, carried, takeovers, yielded }: Gathered): boolean {
  if (takeovers.length > 0 || yielded.drivers.size > 0 || accepted.some(({ kind }) => kind === 'snapshot'))
    return false;
  const parts = accepted.filter(({ kind }) => kind === 'part');
  if (parts.length !== present.length + carried.length) return false;
  return present.every(({ id }) => parts.some((part) => part.id === id && !part.carried)) && carried.every(wasCarried);
}
