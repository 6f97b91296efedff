/** Holds what the agent does against the model, at the moment when it does it. */
import type { Settings, SourceSettings } from '../core/settings.ts';
import { type HeldPart, type Points, deletesBetween, foldParts, sizeOf, withCarried } from './model.ts';
import { Violation } from './promises.ts';
import type { Landing } from './world/receiver.ts';
import type { Place } from './world/place.ts';

/** What the model holds of one source. */
interface Accepted {
  readonly parts: readonly HeldPart[];
  readonly points: Points;
  /** Somebody approved to go on without readings that nobody knows any more: its digits are the agent's word. */
  readonly isBlurred: boolean;
}

/** A body that the agent built: what each source had then. */
interface Built {
  readonly accepted: ReadonlyMap<string, Accepted>;
  readonly points: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

interface Body {
  readonly shouldDeleteMissing: boolean;
  readonly extDrivers: readonly {
    readonly id: string;
    readonly timeSeries: readonly { readonly time: string; readonly value: string }[];
  }[];
}

export class Checks {
  settings: Settings;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #accepted = new Map<string, Accepted>();
  readonly #built = new Map<string, Built>();
  /** Sources whose held candidate somebody approved since they were accepted last. */
  readonly approved = new Set<string>();
  /** The body that somebody asked for with `rollback`. */
  rollbackTo: string | undefined;
  lastAcknowledged: string | undefined;
  /** What the service holds. */
  landed: Landing | undefined;

  constructor(settings: Settings, places: ReadonlyMap<string, Place>) {
    this.settings = settings;
    this.#places = places;
  }

  /** The candidate of a source became its accepted read. */
  accepted(source: string): void {
    const settings = this.#settingsOf(source);
    const place = this.#places.get(source);
    if (settings === undefined || place === undefined) return;
    const before = this.#accepted.get(source);
    const after = this.#candidate(settings, place, before);
    if (!this.approved.has(source)) this.#judge(settings, before, after);
    this.approved.delete(source);
    this.#accepted.set(source, after);
  }

  #candidate(settings: SourceSettings, place: Place, before: Accepted | undefined): Accepted {
    const present = place.listed.map((name): HeldPart => {
      const file = place.read.get(name);
      if (file === undefined)
        throw new Violation('whole', `${settings.name}: ${name} was accepted and never read whole`);
      return { name, sheet: file.sheet, isCarried: false };
    });
    const parts = withCarried(before?.parts ?? [], present, settings.removed);
    const isBlurred =
      before?.isBlurred === true || (this.approved.has(settings.name) && parts.some((part) => part.isCarried));
    return {
      parts,
      points: foldParts(parts, rulesOf(settings)),
      isBlurred: isBlurred && parts.some((part) => part.isCarried),
    };
  }

  #judge(settings: SourceSettings, before: Accepted | undefined, after: Accepted): void {
    const { name, mayBeEmpty } = settings;
    const size = sizeOf(after.points);
    if (before === undefined) {
      if (size.drivers === 0 && !mayBeEmpty) throw new Violation('evidence', `${name}: its first read had no readings`);
      return;
    }
    const cut = after.parts.find(
      ({ name: part, sheet, isCarried }) =>
        !isCarried &&
        !sheet.endsWithLineEnd &&
        before.parts.some((one) => one.name === part && one.sheet.endsWithLineEnd),
    );
    if (cut !== undefined) throw new Violation('cut', `${name}: ${cut.name} ends without a line end and was accepted`);
    if (this.settings.shouldDeleteMissing) this.#judgeDeletes(settings, before, after);
  }

  #judgeDeletes({ name, mayBeEmpty }: SourceSettings, before: Accepted, after: Accepted): void {
    const had = sizeOf(before.points);
    const deletes = deletesBetween(before.points, after.points);
    if (deletes.points === 0) return;
    const isEmpty = after.points.size === 0;
    if (isEmpty && mayBeEmpty) return;
    if (isEmpty) throw new Violation('evidence', `${name}: it turned empty, and all ${had.drivers} drivers went`);
    for (const unit of ['drivers', 'points'] as const) {
      const allowed = this.#allowed(had[unit]);
      if (deletes[unit] > allowed)
        throw new Violation('evidence', `${name}: ${deletes[unit]} of ${had[unit]} ${unit} went, and ${allowed} may`);
    }
    const rejects = (parts: readonly HeldPart[]): number =>
      parts.reduce((sum, { sheet }) => sum + sheet.rows.filter(({ means }) => means === undefined).length, 0);
    if (rejects(after.parts) > rejects(before.parts))
      throw new Violation('evidence', `${name}: ${deletes.points} points went with a read that has more rejects`);
  }

  #allowed(whole: number): number {
    const { maxDeletes, floor } = this.settings.guard;
    if (maxDeletes.kind === 'count') return maxDeletes.count;
    return Math.max(Math.floor((whole * maxDeletes.millionths) / 1_000_000), Math.min(floor, Math.floor(whole / 2)));
  }

  /** What the source has accepted is another read now, and no review said so. */
  replaced(source: string, parts: readonly { readonly name: string; readonly kind: string }[] | undefined): void {
    const before = this.#accepted.get(source);
    if (parts === undefined) {
      this.#accepted.delete(source);
      return;
    }
    const isOfSnapshot = parts.length === 0 || parts.some(({ kind }) => kind === 'snapshot');
    const digest = this.rollbackTo ?? this.lastAcknowledged;
    const then = isOfSnapshot && digest !== undefined ? this.#built.get(digest)?.accepted.get(source) : undefined;
    if (then !== undefined) {
      this.#accepted.set(source, then);
      return;
    }
    const settings = this.#settingsOf(source);
    if (before === undefined || settings === undefined) return;
    const kept = before.parts.filter((part) => parts.some(({ name }) => name === part.name));
    this.#accepted.set(source, { ...before, parts: kept, points: foldParts(kept, rulesOf(settings)) });
  }

  /** A body leaves for the service. */
  sent(digest: string, text: string): void {
    if (this.#built.has(digest)) {
      const isKnown = digest === this.lastAcknowledged || digest === this.rollbackTo;
      if (!isKnown && !this.#isNewest(pointsIn(text)))
        throw new Violation('order', 'an older snapshot was sent after a newer one');
      return;
    }
    const body = JSON.parse(text) as Body;
    const points = pointsIn(text);
    if (body.shouldDeleteMissing && body.extDrivers.length === 0 && this.approved.size === 0)
      throw new Violation('empty', 'an empty snapshot was sent, and nobody approved it');
    const missing = this.settings.sources.find(({ name }) => !this.#accepted.has(name));
    if (missing !== undefined && this.lastAcknowledged === undefined && body.shouldDeleteMissing)
      throw new Violation('first', `the first push went without source "${missing.name}"`);
    this.#compare(points);
    this.#built.set(digest, { accepted: new Map(this.#accepted), points });
  }

  #isNewest(points: ReadonlyMap<string, ReadonlyMap<string, string>>): boolean {
    try {
      this.#compare(points);
      return true;
    } catch (error) {
      if (error instanceof Violation) return false;
      throw error;
    }
  }

  /** Every digit, and nothing beside them. */
  #compare(points: ReadonlyMap<string, ReadonlyMap<string, string>>): void {
    const expected = new Map<string, ReadonlyMap<number, readonly string[]>>();
    let isBlurred = false;
    for (const accepted of this.#accepted.values()) {
      isBlurred ||= accepted.isBlurred;
      for (const [driver, months] of accepted.points) expected.set(driver, months);
    }
    if (isBlurred) return;
    for (const [driver, months] of expected) {
      const sent = points.get(driver);
      for (const [month, texts] of months) {
        const value = sent?.get(showMonth(month));
        if (value === undefined)
          throw new Violation('whole', `"${driver}" ${showMonth(month)} was left out of a snapshot`);
        if (!texts.includes(value))
          throw new Violation(
            'digits',
            `"${driver}" ${showMonth(month)} is ${texts.join(' or ')}, and ${value} was sent`,
          );
      }
    }
    for (const [driver, months] of points) {
      const extra = [...months.keys()].find((month) => expected.get(driver)?.has(monthOf(month)) !== true);
      if (extra !== undefined) throw new Violation('whole', `"${driver}" ${extra} was sent, and no source has it`);
    }
  }

  /** Whether the service holds what every source has accepted. */
  isServed(): boolean {
    return this.landed !== undefined && this.#isNewest(pointsIn(this.landed.text));
  }

  /** Whether a source has accepted what its place holds now. */
  isCurrent(source: string): boolean {
    const settings = this.#settingsOf(source);
    const place = this.#places.get(source);
    const accepted = this.#accepted.get(source);
    if (settings === undefined || place === undefined || accepted === undefined) return false;
    return [...place.files].every(([name, { sheet }]) =>
      accepted.parts.some((part) => part.name === name && part.sheet.hash === sheet.hash),
    );
  }

  #settingsOf(source: string): SourceSettings | undefined {
    return this.settings.sources.find(({ name }) => name === source);
  }
}

function rulesOf({ mapping }: SourceSettings): readonly SourceSettings['mapping']['drivers'][number]['rule'][] {
  return mapping.drivers.map(({ rule }) => rule);
}

function showMonth(month: number): string {
  return `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
}

function monthOf(text: string): number {
  return Number(text.slice(0, 4)) * 12 + Number(text.slice(5)) - 1;
}

function pointsIn(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const { extDrivers } = JSON.parse(text) as Body;
  return new Map(
    extDrivers.map(({ id, timeSeries }) => [
      id,
      new Map(timeSeries.map(({ time, value }) => [new Date(Number(time) * 1000).toISOString().slice(0, 7), value])),
    ]),
  );
}
