/** When each source is polled again, and what its last read gave: a query does not run because a file changed. */
import type { SourceSettings } from '../../core/settings.ts';
import type { DueSources } from '../read/read-all.ts';
import type { SourceLook } from '../read/read-source.ts';
import type { Dependencies } from '../dependencies.ts';

/** A source that could not be read is polled again this soon at the latest, however rare its polls are. */
const unreadRetryDefaultMs = 300_000;

/** The moment of the next poll: monotonic, or by the clock on the wall. */
type Due = { readonly ms: number } | { readonly at: Date };

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

  #msTo({ name }: SourceSettings): number {
    const { clock } = this.#deps;
    const due = this.#due.get(name);
    if (due === undefined) return 0;
    return 'ms' in due ? due.ms - clock.monotonicMs() : due.at.getTime() - clock.now().getTime();
  }
}

function nextPoll({ clock, schedule, settings }: Dependencies, read: SourceLook, unreadRetryMs: number): Due {
  const { poll } = read.settings;
  const isUnread = read.state === 'unread';
  if (poll.kind === 'every') {
    return { ms: clock.monotonicMs() + (isUnread ? Math.min(poll.ms, unreadRetryMs) : poll.ms) };
  }
  const at = schedule.nextDue(poll.expression, settings.timezone, clock.now());
  return isUnread ? { at: new Date(Math.min(at.getTime(), clock.now().getTime() + unreadRetryMs)) } : { at };
}
