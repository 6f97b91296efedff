/** What SIGTERM and SIGINT do to an agent. */
import type { PassEvent } from '../app/dependencies.ts';
import { AgentError } from '../core/errors.ts';

/** A push under way may end by itself for this long; the process ends within 20 s in all. */
const graceMs = 15_000;

/** What `bin/driver-sync.js` has these signals do to a daemon until then. */
const endUnbegun = Symbol.for('driver-sync.endUnbegun');

export interface Ending extends Disposable {
  readonly signal: AbortSignal;
  /** Has to be told everything that a pass observes. */
  note(event: PassEvent): void;
}

/**
 * The first SIGTERM or SIGINT lets a push end, the second one ends the process at once.
 * @param after ends an agent that is asked to end and let its push end: a daemon goes on to its next pass, a command tries again
 * @param asked the first signal came
 */
export function openEnding(
  after: 'push.recorded' | 'waiting',
  asked: (name: NodeJS.Signals, isPushing: boolean) => void,
): Ending {
  const stop = new AbortController();
  let isPushing = false;
  let askedBy: NodeJS.Signals | undefined;
  const abort = (): void => stop.abort(new AgentError('aborted', `stopped by ${askedBy}`));
  const onSignal = (name: NodeJS.Signals): void => {
    if (askedBy !== undefined) process.exit(name === 'SIGINT' ? 130 : 143);
    askedBy = name;
    asked(name, isPushing);
    if (!isPushing) abort();
    else setTimeout(abort, graceMs).unref();
  };
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const unbegun = (globalThis as { [endUnbegun]?: () => void })[endUnbegun];
  for (const name of signals) {
    process.on(name, onSignal);
    // Only then: with no listener at all a signal would end the process by itself.
    if (unbegun !== undefined) process.removeListener(name, unbegun);
  }
  return {
    signal: stop.signal,
    note({ kind }) {
      if (kind === 'push.begun') isPushing = true;
      if (kind === 'push.recorded' || kind === 'push.broken') isPushing = false;
      if ((kind === after || kind === 'push.broken') && askedBy !== undefined) abort();
    },
    [Symbol.dispose]() {
      for (const name of signals) process.removeListener(name, onSignal);
    },
  };
}

/** For a command with a copy to take away: the first SIGTERM or SIGINT stops it, the second one ends the process at once. */
export function openStop(): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    close();
    stop.abort(new AgentError('aborted', `stopped by ${name}`));
  };
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const close = (): void => {
    for (const name of signals) process.removeListener(name, onSignal);
  };
  for (const name of signals) process.on(name, onSignal);
  return { signal: stop.signal, [Symbol.dispose]: close };
}
