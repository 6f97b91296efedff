/** What `bin/driver-sync.js` offers, which alone tells V8 when to optimise. */

const offered = Symbol.for('driver-sync.holdOptimizer');

/**
 * Keeps TurboFan off while threads have work for every core.
 * @returns ends the hold. Nothing is held where the agent was not started by its executable, or where V8 has no other compiler that optimises
 */
export function holdOptimizer(): () => void {
  const hold = (globalThis as { [offered]?: () => () => void })[offered];
  return hold?.() ?? (() => undefined);
}
