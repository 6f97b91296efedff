/** What the daemon logs of its passes. */
import type { Log } from '../core/ports.ts';
import type { PassReport, SourceReport } from '../core/report.ts';
import { showChanges } from './text.ts';

/** Logs at `info` and above only what changed: a source that stays held is said once, not every minute. */
export class PassLog {
  readonly #log: Log;
  #said = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  note(report: PassReport): void {
    for (const source of report.sources) this.#noteSource(source);
    const { outcome, exit, reason, hint, push } = report;
    const { id, digest, drivers, points, head } = push ?? {};
    const fields = { outcome, exit, reason, hint, push: id, digest, drivers, points, head };
    const isNews = this.#isNews(
      'push',
      outcome === 'unchanged' || outcome === 'acknowledged' ? '' : `${outcome} ${reason}`,
    );
    if (outcome === 'acknowledged') this.#log.info('pushed', fields);
    else if (outcome === 'unchanged') this.#log.debug('nothing to push', fields);
    else if (isNews || push !== undefined) this.#log.warn(`push ${outcome}`, fields);
    else this.#log.debug(`push ${outcome}`, fields);
  }

  #noteSource(report: SourceReport): void {
    const { name, state, reason, hint, digest, rows, rejects, changes, carried, findings } = report;
    const isWell = state === 'accepted' || state === 'unchanged';
    const isNews = this.#isNews(`source ${name}`, isWell ? '' : `${state} ${reason} ${digest}`);
    if (!isWell)
      this.#log[isNews ? 'warn' : 'debug'](`source ${state}`, { source: name, reason, hint, digest, findings });
    else if (isNews) this.#log.info('source is well again', { source: name });
    if (state === 'accepted') {
      this.#log.info('source accepted', { source: name, rows, rejects, changes: showChanges(changes) });
      // Approved, or let through by `guard.values: warn`.
      if (findings !== undefined) this.#log.warn('accepted values look like a slip', { source: name, findings });
    }
    const isCarriedNews = this.#isNews(`carried ${name}`, carried.join(', '));
    if (!isCarriedNews) return;
    if (carried.length > 0) this.#log.warn('parts are gone and carried', { source: name, carried });
    else this.#log.info('nothing is carried any more', { source: name });
  }

  /** Whether this differs from what was said last. The empty text means that all is well, and is not said at first. */
  #isNews(about: string, said: string): boolean {
    const before = this.#said.get(about) ?? '';
    this.#said.set(about, said);
    return before !== said;
  }
}
