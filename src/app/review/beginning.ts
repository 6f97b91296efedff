/** Whether a candidate begins within a month that was accepted whole: seen while it is compared, and counted only where that month changes. */
import type { Month } from '../../core/model.ts';
import { type Beginning, type DriverRuns, findingBeginning } from '../../core/series/beginning.ts';
import type { DriverChange } from '../../core/series/diff.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { monthAt } from '../../core/time/zone.ts';
import type { Dependencies } from '../dependencies.ts';
import { firstShown } from '../read/carried.ts';
import { inTurns } from '../turns.ts';

export class BeginningReview {
  readonly #month: Month | undefined;
  readonly #shouldDeleteMissing: boolean;
  #isChanged = false;

  constructor(deps: Dependencies, source: SourceSettings) {
    this.#month = judgedMonth(deps, source);
    this.#shouldDeleteMissing = deps.settings.shouldDeleteMissing;
  }

  /** Takes every change on the way. */
  see({ kind, updated, deleted }: DriverChange): void {
    if (this.#month === undefined || this.#isChanged || kind !== 'update') return;
    // What a read leaves out stays at a service that deletes nothing.
    this.#isChanged = updated.includes(this.#month) || (this.#shouldDeleteMissing && deleted.includes(this.#month));
  }

  /** `undefined`: nothing changes in the oldest month that the candidate shows, or that month is not judged. */
  async find(runs: DriverRuns): Promise<Beginning | undefined> {
    if (this.#month === undefined || !this.#isChanged) return undefined;
    return inTurns(findingBeginning(runs, this.#month));
  }
}

/** The oldest month that a candidate shows, where its first days can be missing unseen. */
function judgedMonth(deps: Dependencies, source: SourceSettings): Month | undefined {
  const { clock, settings, buffer } = deps;
  // With `removed: delete` readings go with their file.
  if (source.removed === 'delete' || source.mapping.drivers.every(({ rule }) => rule === 'last')) return undefined;
  const parts = buffer.reads.parts(source.name, 'candidate') ?? [];
  const shown = parts.filter(({ kind }) => kind !== 'history');
  const month = firstShown(deps, source, shown);
  // In a list of what is open (orders, due dates) entries leave the present month day by day, as they should.
  return month !== undefined && month < monthAt(clock.now().getTime(), settings.timezone) ? month : undefined;
}
