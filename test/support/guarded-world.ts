/** A world whose guard is looked at: one source that it judges, and another one that always moves on. */
import { expect } from 'vitest';
import { judged, longFile, longSource, world } from './world.ts';

/** One source of `sales.csv`, accepted and pushed, and a second one that always moves on. */
export async function guarded(sales: string, { guard = {}, keys = {} }: { guard?: object; keys?: object } = {}) {
  const config = { guard, sources: { sales: longSource('sales.csv', keys), other: longSource('other.csv') } };
  const w = await world({ config, files: { 'sales.csv': sales, 'other.csv': longFile({ other: { '2026-01': 1 } }) } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return Object.assign(w, { count: () => w.drivers().filter(({ id }) => id !== 'other').length });
}

export const accepted = judged(0, 'sales', { state: 'accepted' });
export const held = judged(4, 'sales', { state: 'held' });

/** Approves the one candidate that the next pass holds. */
export async function approveHeld(
  w: Awaited<ReturnType<typeof guarded>> | Awaited<ReturnType<typeof world>>,
): Promise<void> {
  const [only, more] = (await w.sync()).sources.filter(({ state }) => state === 'held');
  expect(more).toBeUndefined();
  await w.approve(only?.digest ?? '');
}

/** A 1 in each of these months. */
export function valuesOf(inMonths: readonly string[]): Record<string, number> {
  return Object.fromEntries(inMonths.map((month) => [month, 1]));
}
