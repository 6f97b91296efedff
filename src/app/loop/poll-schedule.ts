/** When each source is polled again, and what its last read gave: a query does not run because a file changed. */
import type { SourceSettings } from '../../core/settings.ts';
import type { DueSources } from '../read/look-at-all.ts';
import type { SourceLook } from '../read/read-source.ts';
import type { Dependencies } from '../dependencies.ts';

/** A source that could not be read is polled again this soon at the latest, however rare its polls are. */
const unreadRetryDefaultMs = 300_000;

/** The next poll is at the first of these moments. */
interface Due {
  /** Monotonic. */
  readonly ms: number;
  /** By a cron expression and the clock on the wall, and what that said when this was reckoned. */
  readonly cron?: { readonly atMs: number; readonly fromMs: number } | undefined;
}

export class PollSchedule implements DueSources {
  readonly #deps: Dependencies;
  readonly #unreadRetryMs: number;
  readonly #reads = new Map<string, SourceLook>();
  readonly #due = new Map<string, Due>();
  #isDue: (source: string) => boolean = () => true;

  constructor(deps: Dependencies, unreadRetryMs = unreadRetryDefaultMs) {
    this.#deps = deps;
    this.#unreadRetryMs = unreadRetryMs;
  }

  /** For the pass that comes: every source is polled, or those that are due. */
  begin(which: 'all' | 'due'): this {
    const due = new Set(
      which === 'all' ? [] : this.#deps.settings.sources.filter((one) => this.#msTo(one) <= 0).map(({ name }) => name),
    );
    this.#isDue = (source) => which === 'all' || due.has(source);
    return this;
  }

  standing(source: string): SourceLook | undefined {
    const read = this.#reads.get(source);
    return read?.isExpensive !== true || this.#isDue(source) ? undefined : read;
  }

  note(read: SourceLook): void {
    const { name } = read.settings;
    this.#reads.set(name, read);
    this.#due.set(name, nextPoll(this.#deps, read, this.#unreadRetryMs));
  }

  forget(): void {
    this.#reads.clear();
    this.#due.clear();
  }

  /** An event says that the source has something new. */
  makeDue(source: string): void {
    this.#due.delete(source);
  }

  /** Until the next source is due; not more than 0 where one is. */
  msToNext(): number {
    return Math.min(...this.#deps.settings.sources.map((source) => this.#msTo(source)));
  }

  #msTo({ name, poll }: SourceSettings): number {
    const { clock } = this.#deps;
    const due = this.#due.get(name);
    if (due === undefined) return 0;
    const nowMs = clock.now().getTime();
    let { cron } = due;
    if (cron !== undefined && nowMs < cron.fromMs) {
      // The clock was set back: its next poll may be years ahead.
      cron = cronDue(this.#deps, poll);
      this.#due.set(name, { ...due, cron });
    }
    return Math.min(due.ms - clock.monotonicMs(), cron === undefined ? Infinity : cron.atMs - nowMs);
  }
}

function nextPoll(deps: Dependencies, { settings: { poll }, state }: SourceLook, unreadRetryMs: number): Due {
  const afterMs = Math.min(poll.kind === 'every' ? poll.ms : Infinity, state === 'unread' ? unreadRetryMs : Infinity);
  return { ms: deps.clock.monotonicMs() + afterMs, cron: cronDue(deps, poll) };
}

function cronDue({ clock, schedule, settings }: Dependencies, poll: SourceSettings['poll']): Due['cron'] {
  if (poll.kind === 'every') return undefined;
  const now = clock.now();
  return { atMs: schedule.nextDue(poll.expression, settings.timezone, now).getTime(), fromMs: now.getTime() };
}
