/** Holds what the agent accepts against the model, at the moment when it does. */
import type { PassReport } from '../core/report.ts';
import type { Settings, SourceSettings } from '../core/settings.ts';
import { candidateOf } from './candidate.ts';
import { foldedOf, isSurelySame, isWithin } from './folded.ts';
import { type Judged, type LetThrough, judgeAccepted, judgeDeletes, judgeFirst, judgeRejects } from './guarding.ts';
import { type HeldPart, type Points, deletesBetween, goneBetween } from './model.ts';
import {
  type Accepted,
  type Given,
  hasAnyOf,
  joined,
  movedAway,
  nothing,
  onlyOf,
  restored,
  shownBy,
  showsAny,
  showsDriver,
  yielding,
} from './moving.ts';
import { Violation } from './promises.ts';
import { Served, dayMs } from './served.ts';
import { type NamedPart, type Place, type Sheet, placeNameOf } from './world/place.ts';

export class Checks {
  #settings!: Settings;
  /** Of each source, also of those that have left the config. */
  readonly #lastSettings = new Map<string, SourceSettings>();
  readonly #places: ReadonlyMap<string, Place>;
  readonly #accepted = new Map<string, Accepted>();
  readonly all: ReadonlyMap<string, Accepted> = this.#accepted;
  readonly #letThrough = new Map<string, LetThrough[]>();
  /** What bodies were made of, by digest: what a rollback or a rebuilt buffer goes back to. */
  readonly #built = new Map<string, { readonly of: ReadonlyMap<string, Accepted>; readonly firstMs: number }>();
  /** Drivers that sources gave up whole since a pass ended last, with what they were. */
  readonly #given = new Map<string, Given>();
  readonly served = new Served();
  /** What approvals cover that were not used: the points that may go, by source. */
  readonly #approved = new Map<string, Points>();
  /** Places that were out of the config, and of which nothing was accepted since. */
  readonly #unseen = new Set<string>();
  /** Parts that somebody asked to forget, by source. */
  readonly forgotten = new Map<string, readonly string[]>();
  /** What somebody approved or forgot has left nothing. */
  isEmptyMeant = false;
  /** What the accepted reads go back to, where they are taken from a snapshot. */
  restoresTo: string | undefined;
  /** When a clock was set last. */
  clockSetMs = -Infinity;
  closedUpTo: () => number | undefined = () => undefined;
  overUpTo: () => number = () => -Infinity;

  constructor(settings: Settings, places: ReadonlyMap<string, Place>) {
    this.#places = places;
    this.settings = settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  set settings(settings: Settings) {
    this.#settings = settings;
    // What a source showed is forgotten when it leaves the config.
    for (const place of this.#places.keys())
      if (settings.sources.every(({ name }) => placeNameOf(name) !== place)) this.#unseen.add(place);
    for (const source of settings.sources) this.#lastSettings.set(source.name, source);
  }

  #is(source: string, what: 'isNewestOnly' | 'isText' | 'mayLag'): boolean {
    return this.#placeOf(source)?.kind[what] === true;
  }

  #shownBeside(source: string): readonly HeldPart[] {
    return shownBy(this.settings.sources.flatMap(({ name }) => (name === source ? [] : (this.#placeOf(name) ?? []))));
  }

  #placeOf(source: string): Place | undefined {
    return this.#places.get(placeNameOf(source));
  }

  /** The candidate of a source became its accepted read. @param together all that did at once @param nowMs by the clock that never jumps */
  accepted(source: string, together: ReadonlyMap<string, readonly NamedPart[]>, nowMs: number): void {
    const settings = this.#settingsOf(source);
    if (settings === undefined) return;
    const had = this.#accepted.get(source);
    const shown = new Map([...together].map(([name, parts]) => [name, this.#presentOf({ name }, parts)]));
    const elsewhere = [...shown].flatMap(([name, parts]) => (name === source ? [] : parts));
    const { before, after } = this.#compared(settings, shown.get(source) ?? [], elsewhere);
    const moved = this.#movedTo(source, { before, after });
    const isNew = (driver: string): boolean => after.points.has(driver) && before?.points.has(driver) !== true;
    const isOwned = (driver: string): boolean => [...this.#accepted.values()].some(({ points }) => points.has(driver));
    const isTimeKnown = this.clockSetMs < nowMs - dayMs;
    const departed = isTimeKnown
      ? this.served.since(nowMs, (driver) => isNew(driver) && !isOwned(driver))
      : nothing.points;
    this.#judge(settings, { before, after, moved, departed, nowMs });
    this.#accepted.set(source, after);
    this.#unseen.delete(placeNameOf(source));
    for (const [driver, months] of had?.points ?? []) {
      if (after.points.has(driver)) continue;
      this.#given.set(driver, { owner: source, isShown: this.#whoShows(driver, source) !== undefined, months });
    }
    if (this.#approved.delete(source)) this.isEmptyMeant = this.#isEmpty();
  }

  #judge(source: SourceSettings, { before, after, moved, departed, nowMs }: Judged): void {
    judgeRejects(source, this.settings, after);
    const name = source.name;
    const let_ = this.#letThrough.get(name) ?? [];
    const accepting = {
      settings: this.settings,
      source,
      before: before ?? nothing,
      after,
      moved,
      departed,
      lately: this.clockSetMs > nowMs - dayMs ? [] : let_.filter(({ atMs }) => atMs > nowMs - dayMs),
      isText: this.#is(name, 'isText'),
      mayLag: this.#is(name, 'mayLag'),
      closedUpTo: this.closedUpTo(),
      overUpTo: this.overUpTo(),
    };
    const covered = this.#approved.get(name);
    if (before === undefined) return judgeFirst(accepting, covered !== undefined);
    if (before.isBlurred || after.isBlurred) return;
    if (covered === undefined) judgeAccepted(accepting);
    else if (!isWithin(goneBetween(before.points, after.points), covered)) judgeDeletes(accepting);
    if (covered !== undefined) return;
    const deletes = deletesBetween(before.points, after.points);
    if (deletes.points > 0) this.#letThrough.set(name, [...let_, { ...deletes, atMs: nowMs }]);
  }

  /** The parts that are there, each as it was when all of it was read. @param accepted those that the agent took, where it chose one */
  #presentOf({ name }: Pick<SourceSettings, 'name'>, accepted?: readonly NamedPart[]): readonly HeldPart[] {
    const place = this.#placeOf(name);
    const listed = place?.listed ?? [];
    const chosen = this.#is(name, 'isNewestOnly')
      ? listed.filter((part) => accepted?.some((one) => one.name === part && !one.carried) ?? false)
      : listed;
    return chosen.map((part) => {
      const file = place?.read.get(part);
      if (file === undefined) throw new Violation('whole', `${name}: ${part} was accepted and never read whole`);
      return { name: part, sheet: file.sheet, isCarried: false };
    });
  }

  /** A source's candidate, and what it is judged against: what the source had, and what it takes over of one that left the config. */
  #compared(
    source: SourceSettings,
    present: readonly HeldPart[],
    elsewhere: readonly HeldPart[],
  ): { readonly before: Accepted | undefined; readonly after: Accepted } {
    const own = this.#accepted.get(source.name);
    const left = this.#leftTo(source, present);
    const moved = movedAway(present, elsewhere);
    const { parts, points, isBlurred } = own ?? nothing;
    const history = joined(points, this.#movedHistory(source, points, present));
    if (left.length === 0)
      return {
        before: own,
        after: this.#candidate(source, yielding({ parts, points: history, isBlurred }, moved), present),
      };
    const all = left.reduce((sum, one) => joined(sum, one.points), history);
    const carried = left.flatMap((one) => one.parts);
    const isUnsure = isBlurred || left.some((one) => one.isBlurred);
    const base = yielding({ parts: [...parts, ...carried], points: all, isBlurred: isUnsure }, moved);
    const after = this.#candidate(source, base, present);
    const taken = onlyOf(all, (driver) => points.has(driver) || after.points.has(driver));
    const isNew = own === undefined && taken.size === 0;
    return { before: isNew ? undefined : { parts, points: taken, isBlurred: isUnsure }, after };
  }

  /** What other sources carry of drivers that a source shows for the first time, where it carries older months too. */
  #movedHistory(source: SourceSettings, own: Points, present: readonly HeldPart[]): Points {
    if (source.history !== 'carry') return nothing.points;
    const carries = (name: string): boolean => name !== source.name && this.#settingsOf(name)?.history === 'carry';
    const given = [...this.#given]
      .filter(([, { owner }]) => carries(owner))
      .map(([id, { months }]) => [id, months] as const);
    const had = [...this.#accepted].flatMap(([name, { points }]) => (carries(name) ? [...points] : []));
    const shown = foldedOf(present, source);
    return new Map([...given, ...had].filter(([driver]) => shown.has(driver) && !own.has(driver)));
  }

  /** What sources that left the config leave to one that shows a driver of theirs: what they carried, and all where it shows a file of theirs. */
  #leftTo(source: SourceSettings, present: readonly HeldPart[]): readonly Accepted[] {
    const gone = [...this.#accepted].filter(([name]) => this.#settingsOf(name) === undefined);
    return gone.flatMap(([name, accepted]) => {
      if (present.length === 0 && placeNameOf(name) === placeNameOf(source.name)) return [accepted];
      if (!hasAnyOf(present, accepted)) return [];
      const isSamePlace = accepted.parts.some((part) =>
        present.some((one) => one.name === part.name || one.sheet.hash === part.sheet.hash),
      );
      const parts = accepted.parts.filter(({ isCarried }) => isSamePlace || isCarried);
      // Who else takes a share of it depends on who was read in this pass.
      const isShared = this.settings.sources.some(
        (one) => one.name !== source.name && showsAny(this.#placeOf(one.name), accepted),
      );
      const isUnsure = isShared && (parts.length > 0 || source.history === 'carry');
      const left = { ...accepted, parts, isBlurred: accepted.isBlurred || isUnsure };
      const shown = foldedOf(present, source);
      const others = [...accepted.points.keys()].filter((driver) => isShared && !shown.has(driver));
      return [yielding(left, new Set(others))];
    });
  }

  /** What other sources of the config have of a candidate's drivers, or gave up in this pass. */
  #movedTo(
    source: string,
    { before, after }: { readonly before: Accepted | undefined; readonly after: Accepted },
  ): Points {
    const others = [...this.#accepted].filter(([name]) => name !== source && this.#settingsOf(name) !== undefined);
    const given = new Map([...this.#given].map(([driver, { months }]) => [driver, months]));
    const had = others.reduce((sum, [, { points }]) => joined(sum, points), given as Points);
    return onlyOf(had, (driver) => after.points.has(driver) && before?.points.has(driver) !== true);
  }

  /** Drivers of a source that left the config go: another source has them, or somebody approved their end. */
  yielded(source: string, drivers: readonly string[]): void {
    const before = this.#accepted.get(source);
    if (before === undefined) return;
    const others = [...this.#accepted].filter(([name]) => name !== source);
    const lost = drivers.find(
      (driver) =>
        before.points.has(driver) && !others.some(([, { points, isBlurred }]) => isBlurred || points.has(driver)),
    );
    if (lost !== undefined && !this.#mayGo(source))
      throw new Violation('evidence', `${source} left the config, and "${lost}" went, which no other source has`);
    // What a place shows that was not read under its new key is the taker's by then: docs/TRACK-RECORD.md has that limit.
    if (!others.some(([name]) => placeNameOf(name) === placeNameOf(source))) this.#unseen.add(placeNameOf(source));
    this.#accepted.set(source, yielding(before, new Set(drivers)));
    this.isEmptyMeant = this.#isEmpty();
  }

  /** The ledger has it that the service took this body. */
  acknowledged(digest: string, nowMs: number): void {
    this.served.note(this.#built.get(digest)?.of.values() ?? [], nowMs);
  }

  /** Whoever gives a driver up waits for another source that shows it, whatever keeps that one from being accepted. */
  #judgeGiven(): void {
    const owned = new Set([...this.#accepted.values()].flatMap(({ points }) => [...points.keys()]));
    for (const [driver, { owner, isShown }] of this.#given) {
      const who = isShown && !owned.has(driver) ? this.#whoShows(driver, owner) : undefined;
      if (who !== undefined && this.settings.shouldDeleteMissing)
        throw new Violation('moves', `${owner} gave "${driver}" up, which ${who} has, and now nobody has it accepted`);
    }
    this.#given.clear();
  }

  /** Another source of the config that shows a driver, as it was read last. */
  #whoShows(driver: string, owner: string): string | undefined {
    // Whoever forgets a part means that its drivers go, whoever may have them too.
    if (this.forgotten.size > 0) return undefined;
    const all = this.settings.sources.filter(
      ({ name }) =>
        !this.#is(name, 'isNewestOnly') &&
        !this.#unseen.has(placeNameOf(name)) &&
        placeNameOf(name) !== placeNameOf(owner),
    );
    return all.find(({ name }) => showsDriver(this.#placeOf(name)!, driver))?.name;
  }

  #mayGo(source: string): boolean {
    const isUnknown = this.#accepted.get(source)?.isBlurred === true;
    return isUnknown || this.#approved.has(source) || this.forgotten.has(source) || !this.settings.shouldDeleteMissing;
  }

  #candidate(source: SourceSettings, before: Accepted = nothing, present: readonly HeldPart[] = []): Accepted {
    const isOne = this.#is(source.name, 'isNewestOnly') && present.length > 0;
    return candidateOf(source, before, { present, isOne, isApproved: this.#approved.has(source.name) });
  }

  /** All of a source goes: somebody approved that it left the config, or asked to forget it. */
  #dropped(source: string): void {
    const had = this.#accepted.get(source)?.points.size ?? 0;
    const isMeant = this.#mayGo(source);
    this.#approved.delete(source);
    this.#accepted.delete(source);
    if (had > 0 && !isMeant) throw new Violation('evidence', `${source} left the config, and its ${had} drivers went`);
  }

  /** Somebody approves what is held of a source: this, and nothing beyond it. */
  approve(source: string): void {
    const settings = this.#settingsOf(source);
    const isTaken = (name: string): boolean => settings !== undefined && this.#settingsOf(name) === undefined;
    const left = [...this.#accepted].filter(([name]) => name === source || isTaken(name));
    const all = { points: left.reduce((sum, [, { points }]) => joined(sum, points), nothing.points) };
    // Which part will be the newest is the agent's to say.
    const isKnown = settings !== undefined && !this.#is(source, 'isNewestOnly');
    const { before, after } = isKnown
      ? this.#compared(settings, this.#presentOf(settings), this.#shownBeside(source))
      : { before: all, after: nothing };
    this.#approved.set(source, goneBetween(before?.points ?? nothing.points, after.points));
  }

  /** Somebody asks to forget a part. Where only the newest counts, another one takes its place, whatever that lacks. */
  forget(source: string, part: string): void {
    this.forgotten.set(source, [...(this.forgotten.get(source) ?? []), part]);
    const before = this.#accepted.get(source);
    if (before !== undefined && this.#is(source, 'isNewestOnly')) this.#approved.set(source, before.points);
  }

  /** A pass has ended: what it holds has to change something. */
  passed({ sources }: PassReport): void {
    this.#judgeGiven();
    for (const { name, state, reason = '' } of sources) {
      const source = this.#settingsOf(name);
      const before = this.#accepted.get(name);
      if (state !== 'held' || source === undefined || before === undefined || before.isBlurred) continue;
      // Whoever has the driver, and rows that may count twice, are held whatever they change.
      if (this.#is(name, 'isNewestOnly') || /belongs to|counted twice|are missing/.test(reason)) continue;
      const { after } = this.#compared(source, this.#presentOf(source), this.#shownBeside(name));
      // Its share of sums is not known any more, which the reason need not say: what it leaves may be nothing.
      if (after.parts.some(({ isCarried, isInSnapshot }) => isCarried && isInSnapshot === true)) continue;
      // A snapshot that would be empty is held whoever emptied it.
      if (after.points.size > 0 && isSurelySame(before.points, after.points))
        throw new Violation('carried', `${name} is held, and its read changes nothing: ${reason}`);
    }
  }

  /** What the source has accepted is another read now, and no review said so. @param gone what a snapshot stood for, and does not any more */
  replaced(source: string, parts: readonly NamedPart[] | undefined, gone: readonly string[]): void {
    const before = this.#accepted.get(source);
    const isOfSnapshot = parts?.every(({ kind }) => kind === 'snapshot') === true;
    const to = isOfSnapshot ? this.#built.get(this.restoresTo ?? '') : undefined;
    const then = to?.of.get(source);
    const forgotten = this.forgotten.get(source) ?? [];
    const dropped = gone.filter((part) => forgotten.includes(part));
    // What was deleted since then is back.
    const counted = this.#letThrough.get(source)?.filter(({ atMs }) => to === undefined || atMs <= to.firstMs);
    if (counted !== undefined) this.#letThrough.set(source, counted);
    if (parts === undefined) this.#dropped(source);
    // A snapshot to go back to has nothing of it: in an equal one, which took its place, the drivers were another source's.
    else if (parts.length === 0) this.#accepted.set(source, nothing);
    else if (then !== undefined) this.#accepted.set(source, restored(then, this.#lastSettings.get(source), dropped));
    else if (before !== undefined) {
      const kept = before.parts.filter((part) => isOfSnapshot || parts.some(({ name }) => name === part.name));
      const settings = this.#lastSettings.get(source);
      const points = settings === undefined || isOfSnapshot ? before.points : foldedOf(kept, settings);
      this.#accepted.set(source, {
        parts: kept,
        points,
        isBlurred: before.isBlurred || isOfSnapshot || settings?.history === 'carry',
      });
    }
    this.isEmptyMeant = this.#isEmpty();
  }

  /** The buffer is gone: the last acknowledged snapshot stands for what it had accepted, where that can be read. */
  lost(isReadable: (digest: string) => boolean): void {
    const { restoresTo } = this;
    const then = restoresTo !== undefined && isReadable(restoresTo) ? this.#built.get(restoresTo)?.of : undefined;
    this.#accepted.clear();
    this.forgetShown();
    this.#given.clear();
    // Of a part without rows a snapshot knows nothing: how it ended is gone with the buffer.
    for (const [source, accepted] of then ?? []) {
      // Of a source that had nothing it knows nothing either: that one begins with a first read.
      if (accepted.points.size === 0) continue;
      const parts = accepted.parts.filter(({ sheet }) => sheet.rows.length > 0);
      this.#accepted.set(source, restored({ ...accepted, parts }, this.#lastSettings.get(source)));
    }
  }

  /** What was read in a pass that broke, or stood in a buffer that is gone, need not be kept. */
  forgetShown(): void {
    for (const place of this.#places.keys()) this.#unseen.add(place);
  }

  /** A snapshot of what is accepted now lies in the archive. An equal one of other parts takes its place. */
  built(digest: string, nowMs: number): void {
    this.#built.set(digest, { of: new Map(this.#accepted), firstMs: this.#built.get(digest)?.firstMs ?? nowMs });
  }

  /** Whether a source has accepted what its place holds now. */
  isCurrent(source: string): boolean {
    const place = this.#placeOf(source);
    const accepted = this.#accepted.get(source);
    if (place === undefined || accepted === undefined) return false;
    const isIn = ([name, { sheet }]: readonly [string, { readonly sheet: Sheet }]): boolean =>
      accepted.parts.some((part) => part.name === name && part.sheet.hash === sheet.hash);
    const files = [...place.files];
    if (!this.#is(source, 'isNewestOnly')) return files.every(isIn);
    // Where a clock was set, the file that was written last need not be the newest, nor any that is there.
    return this.clockSetMs > -Infinity || files.slice(-1).every(isIn);
  }

  #isEmpty(): boolean {
    return [...this.#accepted.values()].every(({ points }) => points.size === 0);
  }

  #settingsOf(source: string): SourceSettings | undefined {
    return this.settings.sources.find(({ name }) => name === source);
  }
}
