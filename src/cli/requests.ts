/** What SIGHUP and SIGUSR2 ask of a daemon. */

/** What `bin/driver-sync.js` notes of these signals until then. */
const askedEarly = Symbol.for('driver-sync.askedEarly');

interface Early {
  readonly names: readonly string[];
  readonly note: (name: NodeJS.Signals) => void;
}

/** Hands over each request, also those that came while the process loaded. */
export function onRequests(ask: (what: 'reload' | 'pass') => void): void {
  const early = (globalThis as { [askedEarly]?: Early })[askedEarly];
  for (const [name, what] of [
    ['SIGHUP', 'reload'],
    ['SIGUSR2', 'pass'],
  ] as const) {
    process.on(name, () => ask(what));
    if (early === undefined) continue;
    // Only then: with no listener at all a signal would end the process by itself.
    process.removeListener(name, early.note);
    if (early.names.includes(name)) ask(what);
  }
}
