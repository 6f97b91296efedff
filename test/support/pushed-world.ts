/** Worlds that end with their test, and one in which the service holds something that can be lost. */
import { expect, onTestFinished } from 'vitest';
import type { PassReport, SourceReport } from '../../src/core/report.ts';
import { type Config, type Points, type TestWorld, longFile, longSource, world } from './world.ts';

export const file = 'exports/revenue.csv';
export const revenue: Points = { North: { '2026-01': '1.50', '2026-02': '2' }, South: { '2026-01': '-3' } };

/** A world that ends with its test. */
export async function arrange(config: Config, files: Readonly<Record<string, string>> = {}): Promise<TestWorld> {
  const made = await world({ config, files });
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** Two sources whose data the service holds: `revenue`, which a test spoils, and `costs`, which goes on. */
export async function pushed(keys: object = {}, config: object = {}): Promise<TestWorld> {
  const made = await arrange(
    { ...config, sources: { revenue: longSource('exports/*.csv', keys), costs: longSource('costs.csv') } },
    { [file]: longFile(revenue), 'costs.csv': longFile({ Rent: { '2026-01': 7 } }) },
  );
  expect(await made.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  return made;
}

export function reportOf({ sources }: Pick<PassReport, 'sources'>, name = 'revenue'): SourceReport {
  const found = sources.find((source) => source.name === name);
  if (found === undefined) throw new Error(`no report of ${name}`);
  return found;
}
