/** A source of the agent alone, without a config around it. */
import type { DriverEntry, Mapping } from '../src/core/settings.ts';
import type { Source } from '../src/core/ports.ts';
import { kinds } from '../src/sources/index.ts';

/** @param keys as a config has them, without those that all sources share */
export function openSource(type: string, keys: object, baseDir: string, drivers: readonly DriverEntry[] = []): Source {
  const { [type]: kind } = kinds;
  if (kind === undefined) throw new Error(`there is no type ${type}`);
  const mapping: Mapping = { where: [], missing: [''], unpivot: undefined, fillDown: [], maps: {}, drivers };
  return kind.open(kind.schema.parse(keys), {
    name: 'bench',
    baseDir,
    clock: { now: () => new Date(), monotonicMs: () => performance.now(), sleep: async () => undefined },
    mapping,
    timezone: 'UTC',
  });
}
