/** Holds what the agent accepts against the model, at the moment when it does. */
import type { PassReport } from '../core/report.ts';
import type { Settings, SourceSettings } from '../core/settings.ts';
import { type Accepted, type LetThrough, judgeAccepted, judgeDeletes, judgeRejects, judgeStale } from './guarding.ts';
import {
  type HeldPart,
  type Points,
  deletesBetween,
  foldParts,
  goneBetween,
  withCarried,
  withHistory,
} from './model.ts';
import { Violation } from './promises.ts';
import type { Place, Sheet } from './world/place.ts';

const dayMs = 86_400_000;
const nothing: Accepted = { parts: [], points: new Map(), isBlurred: false };

/** A part of an accepted read, as the agent names it. */
interface NamedPart {
  readonly name: string;
  readonly kind: string;
  readonly carried: boolean;
}

export class Checks {
  #settings!: Settings;
  /** Of each source, also of those that have left the config. */
  readonly #lastSettings = new Map<string, SourceSettings>();
  readonly #places: ReadonlyMap<string, Place>;
  readonly #accepted = new Map<string, Accepted>();
  readonly #letThrough = new Map<string, LetThrough[]>();
  /** What bodies were made of, by digest: what a rollback or a rebuilt buffer goes back to. */
  readonly #built = new Map<string, ReadonlyMap<string, Accepted>>();
  /** What approvals cover that were not used: the points that may go, by source. */
  readonly #approved = new Map<string, Points>();
  /** Sources that somebody asked to forget. */
  readonly forgotten = new Set<string>();
  /** What somebody approved or forgot has left nothing. */
  #isEmptyMeant = false;
  /** What the accepted reads go back to, where they are taken from a snapshot. */
  restoresTo: string | undefined;
  /** When a clock was set last. */
  clockSetMs = -Infinity;
  closedUpTo: () => number | undefined = () => undefined;

  constructor(settings: Settings, places: ReadonlyMap<string, Place>) {
    this.settings = settings;
    this.#places = places;
  }

  get settings(): Settings {
    return this.#settings;
  }

  set settings(settings: Settings) {
    this.#settings = settings;
    for (const source of settings.sources) this.#lastSettings.set(source.name, source);
  }

  #is(source: string, what: 'isNewestOnly' | 'isText' | 'mayLag'): boolean {
    return this.#places.get(source)?.kind[what] === true;
  }

  get isEmptyMeant(): boolean {
    return this.#isEmptyMeant;
  }

  get all(): ReadonlyMap<string, Accepted> {
    return this.#accepted;
  }

  /** The candidate of a source became its accepted read. @param nowMs by the clock that never jumps */
  accepted(source: string, parts: readonly NamedPart[], nowMs: number): void {
    const settings = this.#settingsOf(source);
    if (settings === undefined) return;
    const before = this.#accepted.get(source);
    const after = this.#candidate(settings, before, this.#presentOf(settings, parts));
    this.#judge(settings, { before, after, nowMs });
    this.#accepted.set(source, after);
    if (this.#approved.delete(source)) this.#isEmptyMeant = this.#isEmpty();
  }

  #judge(
    source: SourceSettings,
    {
      before,
      after,
      nowMs,
    }: { readonly before: Accepted | undefined; readonly after: Accepted; readonly nowMs: number },
  ): void {
    judgeRejects(source, this.settings, after);
    if (before === undefined) {
      judgeStale(source, after);
      if (after.points.size === 0 && !source.mayBeEmpty && !this.#approved.has(source.name))
        throw new Violation('evidence', `${source.name}: its first read had no readings`);
      return;
    }
    if (before.isBlurred || after.isBlurred) return;
    const let_ = this.#letThrough.get(source.name) ?? [];
    const lately = this.clockSetMs > nowMs - dayMs ? [] : let_.filter(({ atMs }) => atMs > nowMs - dayMs);
    const isText = this.#is(source.name, 'isText');
    const mayLag = this.#is(source.name, 'mayLag');
    const kind = { isText, mayLag };
    const accepting = {
      settings: this.settings,
      source,
      before,
      after,
      lately,
      ...kind,
      closedUpTo: this.closedUpTo(),
    };
    const covered = this.#approved.get(source.name);
    if (covered === undefined) judgeAccepted(accepting);
    else if (!isWithin(goneBetween(before.points, after.points), covered)) judgeDeletes(accepting);
    if (covered !== undefined) return;
    const deletes = deletesBetween(before.points, after.points);
    if (deletes.points > 0) this.#letThrough.set(source.name, [...let_, { ...deletes, atMs: nowMs }]);
  }

  /** The parts that are there, each as it was when all of it was read. @param accepted those that the agent took, where it chose one */
  #presentOf({ name }: SourceSettings, accepted?: readonly NamedPart[]): readonly HeldPart[] {
    const place = this.#places.get(name);
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

  #candidate(source: SourceSettings, before: Accepted = nothing, present: readonly HeldPart[] = []): Accepted {
    const isOne = this.#is(source.name, 'isNewestOnly') && present.length > 0;
    const parts = isOne || source.removed === 'delete' ? present : withCarried(before.parts, present);
    const carries = parts.some((part) => part.isCarried);
    const points = foldedOf(parts, source);
    const isUnknown = before.isBlurred || this.#approved.has(source.name);
    return {
      parts,
      // An empty read shows no window of months, unless it may be empty.
      points:
        source.history === 'carry' && (points.size > 0 || source.mayBeEmpty)
          ? withHistory(before.points, points)
          : points,
      isBlurred: isUnknown && (carries || (before.isBlurred && source.history === 'carry')),
    };
  }

  /** All of a source goes: somebody approved that it left the config, or asked to forget it. */
  #dropped(source: string): void {
    const had = this.#accepted.get(source)?.points.size ?? 0;
    const isMeant = this.#approved.delete(source) || this.forgotten.has(source) || !this.settings.shouldDeleteMissing;
    this.#accepted.delete(source);
    if (had > 0 && !isMeant) throw new Violation('evidence', `${source} left the config, and its ${had} drivers went`);
  }

  /** Somebody approves what is held of a source: this, and nothing beyond it. */
  approve(source: string): void {
    const settings = this.#settingsOf(source);
    const before = this.#accepted.get(source)?.points ?? new Map<string, never>();
    // Which part will be the newest is the agent's to say.
    const isKnown = settings !== undefined && !this.#is(source, 'isNewestOnly');
    const after = isKnown ? this.#candidate(settings, this.#accepted.get(source), this.#presentOf(settings)) : nothing;
    this.#approved.set(source, goneBetween(before, after.points));
  }

  /** Somebody asks to forget a part. Where only the newest counts, another one takes its place, whatever that lacks. */
  forget(source: string): void {
    const before = this.#accepted.get(source);
    if (before !== undefined && this.#is(source, 'isNewestOnly')) this.#approved.set(source, before.points);
  }

  /** A pass has ended: what it holds has to change something. */
  passed({ sources }: PassReport): void {
    for (const { name, state, reason = '' } of sources) {
      const source = this.#settingsOf(name);
      const before = this.#accepted.get(name);
      if (state !== 'held' || source === undefined || before === undefined || before.isBlurred) continue;
      // Whoever has the driver, and rows that may count twice, are held whatever they change.
      if (this.#is(name, 'isNewestOnly') || /belongs to|counted twice|are missing/.test(reason)) continue;
      const after = this.#candidate(source, before, this.#presentOf(source));
      // A snapshot that would be empty is held whoever emptied it.
      if (after.points.size > 0 && isSamePoints(before.points, after.points))
        throw new Violation('carried', `${name} is held, and its read changes nothing: ${reason}`);
    }
  }

  /** What the source has accepted is another read now, and no review said so. */
  replaced(source: string, parts: readonly NamedPart[] | undefined): void {
    const before = this.#accepted.get(source);
    const isOfSnapshot = parts?.every(({ kind }) => kind === 'snapshot') === true;
    const then = isOfSnapshot ? this.#built.get(this.restoresTo ?? '')?.get(source) : undefined;
    if (parts === undefined) this.#dropped(source);
    else if (then !== undefined) this.#accepted.set(source, then);
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
    this.#isEmptyMeant = this.#isEmpty();
  }

  /** The buffer is gone: the last acknowledged snapshot stands for what it had accepted, where that can be read. */
  lost(isReadable: (digest: string) => boolean): void {
    const { restoresTo } = this;
    const then = restoresTo !== undefined && isReadable(restoresTo) ? this.#built.get(restoresTo) : undefined;
    this.#accepted.clear();
    // Of a part without rows a snapshot knows nothing: how it ended is gone with the buffer.
    for (const [source, accepted] of then ?? [])
      this.#accepted.set(source, { ...accepted, parts: accepted.parts.filter(({ sheet }) => sheet.rows.length > 0) });
  }

  /** A snapshot of what is accepted now lies in the archive. An equal one of other parts takes its place. */
  built(digest: string): void {
    this.#built.set(digest, new Map(this.#accepted));
  }

  /** Whether a source has accepted what its place holds now. */
  isCurrent(source: string): boolean {
    const place = this.#places.get(source);
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

function isSamePoints(before: Points, after: Points): boolean {
  if (before.size !== after.size) return false;
  for (const [driver, months] of before) {
    const now = after.get(driver);
    if (now === undefined || now.size !== months.size) return false;
    for (const [month, texts] of months) if (now.get(month)?.join() !== texts.join()) return false;
  }
  return true;
}

function isWithin(points: Points, covered: Points): boolean {
  return deletesBetween(points, covered).points === 0;
}

/** What a sheet has alone: the same one is asked for again and again. The rules of a source never change. */
const folded = new WeakMap<Sheet, Points>();

function foldedOf(parts: readonly HeldPart[], { mapping }: SourceSettings): Points {
  const [only] = parts;
  const known = only === undefined || parts.length > 1 ? undefined : folded.get(only.sheet);
  if (known !== undefined) return known;
  const points = foldParts(
    parts,
    mapping.drivers.map(({ rule }) => rule),
  );
  if (only !== undefined && parts.length === 1) folded.set(only.sheet, points);
  return points;
}
