/** What `forget` asked for, carried out by the pass: it alone writes the buffer. */
import { AgentError } from '../../core/errors.ts';
import { namesHint } from '../../core/nearest.ts';
import type { FoldedDriver } from '../../core/series/packing.ts';
import type { ChosenPart, ReadPart } from '../../core/buffer.ts';
import type { Forgetting } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { acceptedDrivers } from '../push/newest-snapshot.ts';
import { endForget, endNeedless } from '../push/unpushed.ts';
import { acceptedParts } from '../read/accepted-parts.ts';
import { type Found, copyPart, isCellOf } from '../read/carried.ts';
import type { SourceLook } from '../read/read-source.ts';
import { removedSources } from '../read/removed-sources.ts';
import { consentToEmpty } from '../review/approvals.ts';
import type { PartsToForget } from '../review/forgotten.ts';

/**
 * Begins with pending `forget` requests, but for those that have to wait until their source was read. A part that is back is not
 * forgotten: what it holds now is judged against what it had. Others go with the read that is accepted without them: what takes their
 * place may be held, and would be compared with nothing. Those of a source that was not read go at once, where nothing can have taken their place.
 * @param looks what the pass has seen of the sources
 */
export async function beginForgetting(deps: Dependencies, looks: readonly SourceLook[]): Promise<PartsToForget> {
  const begun = new Map<string, { readonly names: Set<string>; readonly requests: number[] }>();
  let hasForgotten = false;
  for (const { id, request } of await deps.ledger.requests.pending()) {
    if (request.kind !== 'forget') continue;
    const look = looks.find(({ settings }) => settings.name === request.source);
    const found = look?.state === 'read' ? look.found : undefined;
    if (found === undefined && waitsForRead(deps, request)) continue;
    const names = found && replacedParts(deps, request, found);
    if (names === undefined) {
      if (await finish(deps, { id, request }, found && { found })) hasForgotten = true;
      continue;
    }
    const of = begun.get(request.source) ?? { names: new Set(), requests: [] };
    begun.set(request.source, { names: new Set([...of.names, ...names]), requests: [...of.requests, id] });
  }
  return {
    names: new Map([...begun].map(([source, { names }]) => [source, names])),
    carryOut: async (source) => {
      const of = begun.get(source);
      if (of === undefined) return;
      dropParts(deps, source, of);
      deps.log.info('forgot what was carried', { source, parts: [...of.names] });
      for (const id of of.requests) await endForget(deps, id);
      hasForgotten = true;
    },
    hasForgotten: () => hasForgotten,
  };
}

/** @returns whether something was forgotten */
async function finish(
  deps: Dependencies,
  { id, request }: { readonly id: number; readonly request: Forgetting },
  known?: KnownOfParts,
): Promise<boolean> {
  const of = { source: request.source, part: request.part };
  const isForgotten = await forget(deps, request, known);
  if (isForgotten) {
    deps.log.info('forgot what was carried', of);
    await endForget(deps, id);
  } else {
    const reason = whyNeedless(request, known?.found);
    deps.log.info('there is nothing to forget any more', { ...of, reason });
    await endNeedless(deps, id, reason);
  }
  return isForgotten;
}

function whyNeedless(asked: Forgetting, found: KnownOfParts['found']): string {
  const listed = found?.listed.flatMap(({ name, otherNames = [] }) => [name, ...otherNames]) ?? [];
  return partsOf(asked)?.some((name) => listed.includes(name)) === true
    ? 'it is back'
    : 'nothing of it is kept any more';
}

/**
 * The parts that a request drops of what a source has accepted, which other parts may take the place of; `undefined` where nothing
 * can: they are another source's, or all that there is.
 */
function replacedParts(deps: Dependencies, asked: Forgetting, found: Found): ReadonlySet<string> | undefined {
  if (found.present.length === 0) return undefined;
  const names = namesToForget(deps, asked, { found });
  const own = new Set(acceptedParts(deps.buffer, asked.source).map(({ name }) => name));
  return names.size > 0 && [...names].every((name) => own.has(name)) ? names : undefined;
}

/** Whether a request goes on waiting while its source is not read. */
export function waitsForRead(deps: Dependencies, { source, ...asked }: Forgetting): boolean {
  const { buffer, settings } = deps;
  if (settings.sources.every(({ name }) => name !== source)) return false;
  const wanted = partsOf(asked);
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const isCarried = carriedParts(deps, source).some((name) => wanted?.includes(name) ?? true);
  // After going back to a snapshot only a read of the source tells which of its parts are gone.
  if (accepted.some(({ kind }) => kind === 'snapshot')) return !isCarried;
  // What takes its place may be in a part that was read well and is not accepted.
  const own = new Set(accepted.map(({ id }) => id));
  const isUnaccepted = ({ id, kind, name }: ReadPart): boolean =>
    kind === 'part' && !own.has(id) && wanted?.includes(name) !== true;
  if (buffer.reads.parts(source, 'partial')?.some(isUnaccepted) === true) return true;
  // Only the read that is held, or was when the source could be read, lacks it.
  const known = [source, ...removedSources(deps)].flatMap((name) => acceptedParts(buffer, name));
  return !isCarried && known.some(({ name }) => wanted?.includes(name));
}

/** The parts that are to go; `undefined`: whatever there is. */
function partsOf({ part, parts }: Pick<Forgetting, 'part' | 'parts'>): readonly string[] | undefined {
  return part === undefined ? parts : [part];
}

export interface KnownOfParts {
  /** Parts that count as gone beside those that the buffer knows. */
  readonly reported?: readonly string[];
  /** What the source shows now. */
  readonly found?: Pick<Found, 'listed'>;
}

/**
 * Drops what is carried: of some parts of a source that are gone, or of a source that left the config.
 * @returns whether there was something
 */
export async function forget(deps: Dependencies, asked: Forgetting, known: KnownOfParts = {}): Promise<boolean> {
  const { buffer, ledger, settings } = deps;
  const { source } = asked;
  if (settings.sources.some(({ name }) => name === source) || partsOf(asked) !== undefined) {
    const names = namesToForget(deps, asked, known);
    if (names.size === 0) return false;
    // First, since the candidate says what is taken over.
    dropTakenOver(deps, source, names);
    dropParts(deps, source, { names });
    const candidate = buffer.reads.parts(source, 'candidate');
    const kept = candidate?.filter((one) => one.kind !== 'part' || !names.has(one.name));
    if (kept !== undefined) buffer.reads.set(source, 'candidate', kept);
  } else {
    for (const kind of ['accepted', 'candidate'] as const) buffer.reads.drop(source, kind);
    buffer.rejects.keepOnly(source, []);
  }
  await ledger.holds.release(source);
  for (const _driver of acceptedDrivers(deps)) return true;
  await consentToEmpty(deps);
  return true;
}

function namesToForget(
  deps: Dependencies,
  { source, ...asked }: Forgetting,
  { reported = [], found }: KnownOfParts,
): ReadonlySet<string> {
  const wanted = partsOf(asked);
  const carried = [...carriedParts(deps, source, found), ...reported];
  return new Set(carried.filter((name) => wanted?.includes(name) ?? true));
}

/** What a held candidate would carry of removed sources is still theirs: it is dropped there, or it would come again. */
function dropTakenOver(deps: Dependencies, source: string, names: ReadonlySet<string>): void {
  const { buffer } = deps;
  const own = new Set(buffer.reads.parts(source, 'accepted')?.map(({ id }) => id));
  const taken = (buffer.reads.parts(source, 'candidate') ?? []).filter(
    ({ id, name, carried }) => carried && names.has(name) && !own.has(id),
  );
  if (taken.length === 0) return;
  const drivers = new Set<string>();
  for (const part of taken) for (const { id } of buffer.parts.drivers(part)) drivers.add(id);
  for (const removed of removedSources(deps)) {
    dropParts(deps, removed, { names: new Set(taken.map(({ name }) => name)), drivers });
  }
}

interface Dropped {
  /** Parts of these names. */
  readonly names: ReadonlySet<string>;
  /** Only these drivers of them; `undefined`: all. */
  readonly drivers?: ReadonlySet<string>;
}

function dropParts({ buffer }: Dependencies, source: string, dropped: Dropped): void {
  const accepted = buffer.reads.parts(source, 'accepted');
  const kept = accepted?.flatMap((part): readonly ChosenPart[] => {
    if (part.kind === 'snapshot') return [withoutParts(buffer, part, dropped)];
    return part.kind === 'part' && dropped.names.has(part.name) ? withoutDrivers(buffer, part, dropped) : [part];
  });
  if (kept !== undefined) buffer.reads.set(source, 'accepted', kept, buffer.reads.basis(source, 'accepted'));
}

function withoutDrivers(buffer: Dependencies['buffer'], part: ReadPart, { drivers }: Dropped): readonly ChosenPart[] {
  if (drivers === undefined) return [];
  const others = new Set<string>();
  for (const { id } of buffer.parts.drivers(part)) if (!drivers.has(id)) others.add(id);
  return others.size === 0 ? [] : [{ ...part, id: copyPart({ buffer }, part.source, part, others) }];
}

/**
 * A snapshot that does not stand for these parts any more, without the points that are of one of them alone. What they added
 * to sums stays in these, until a candidate without the parts replaces them.
 */
function withoutParts(buffer: Dependencies['buffer'], snapshot: ReadPart, { names, drivers }: Dropped): ChosenPart {
  const origins = buffer.parts.originsOf(snapshot.id);
  if (!origins.some(({ name }) => names.has(name))) return snapshot;
  const writer = buffer.parts.begin(snapshot.source, { name: '', kind: 'snapshot' }, snapshot.fingerprint);
  const rest = function* (): Generator<FoldedDriver> {
    for (const driver of buffer.parts.drivers(snapshot)) {
      const isDropped = drivers === undefined || drivers.has(driver.id);
      yield isDropped
        ? { ...driver, cells: driver.cells.filter((cell) => !isCellOf({ buffer }, driver, { cell, names })) }
        : driver;
    }
  };
  writer.add(rest());
  for (const { id, name } of origins) if (!names.has(name)) writer.addOrigin(id);
  const { id } = writer.commit(snapshot, snapshot);
  return { ...snapshot, id };
}

/**
 * Parts that are gone: carried by the accepted read, or by a candidate that is held, and not back.
 * @param found what the source shows now; without it counts what it showed last
 */
function carriedParts({ buffer }: Dependencies, source: string, found?: Pick<Found, 'listed'>): readonly string[] {
  const candidate = buffer.reads.parts(source, 'candidate') ?? [];
  const accepted = buffer.reads.parts(source, 'accepted') ?? [];
  const present = new Set(
    found?.listed.flatMap(({ name, otherNames = [] }) => [name, ...otherNames]) ??
      candidate.filter(({ carried }) => !carried).map(({ name }) => name),
  );
  const carried = [...accepted, ...candidate].filter((part) => part.carried);
  // A candidate that lacks what is to be forgotten does not carry it, and a snapshot says of none of its parts that it is carried.
  const gone = found === undefined ? carried : [...acceptedParts(buffer, source), ...carried];
  return [...new Set(gone.map(({ name }) => name))].filter((name) => !present.has(name));
}

/** Parts that are gone as the ledger says: those that the last pass of the agent that leads reported as carried. */
export async function reportedParts({ ledger }: Dependencies, source: string): Promise<readonly string[]> {
  const { lastPass } = await ledger.state();
  return lastPass?.sources.find(({ name }) => name === source)?.carried ?? [];
}

/**
 * What `forget` asks the next pass for.
 * @param reported parts that count as gone beside those that the buffer knows
 * @throws AgentError `usage` for a source or part that is not there or not gone.
 */
export function requestToForget(
  deps: Dependencies,
  { source, part }: { source: string; part?: string | undefined },
  reported: readonly string[] = [],
): Forgetting {
  const { buffer, settings } = deps;
  const isConfigured = settings.sources.some(({ name }) => name === source);
  const parts = buffer.reads.parts(source, 'candidate') ?? buffer.reads.parts(source, 'accepted');
  if (parts === undefined && reported.length === 0) {
    const known = [...new Set([...settings.sources.map(({ name }) => name), ...buffer.reads.acceptedSources()])];
    const hint = isConfigured ? 'it is in the config, and no read of it was accepted yet' : namesHint(source, known);
    throw new AgentError('usage', `nothing is kept of a source "${source}"`, { hint });
  }
  const carried = [...new Set([...carriedParts(deps, source), ...reported])];
  const shown = carried.length === 0 ? 'nothing is carried for it' : `carried for it are ${carried.join(', ')}`;
  if (part !== undefined && !carried.includes(part)) {
    throw new AgentError('usage', `source "${source}" carries no part "${part}"`, { hint: shown });
  }
  if (part === undefined && isConfigured && carried.length === 0) {
    throw new AgentError('usage', `source "${source}" is in the config and ${shown}`, {
      hint: 'take it out of the config first if it will not come back',
    });
  }
  return { kind: 'forget', source, part, ...(part === undefined && isConfigured ? { parts: carried } : {}) };
}
