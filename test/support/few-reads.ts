/** A buffer of a few reads, as far as the review of all sources together asks it. */
import type { Dependencies } from '../../src/app/dependencies.ts';
import type { PackedDriver } from '../../src/core/series/packing.ts';
import { driver } from './packed.ts';

/** Reads by `source kind`; each has drivers with their months. */
export type Reads = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export function driversOf(reads: Reads, source: string, kind: string): readonly PackedDriver[] {
  return Object.entries(reads[`${source} ${kind}`] ?? {}).map(([id, months]) =>
    driver(id, Object.fromEntries(months.map((month) => [month, '1']))),
  );
}

/** @param carried names of parts that are gone, by source: all that such a source has is of them */
export function bufferOf(
  reads: Reads,
  carried: Readonly<Record<string, readonly string[]>> = {},
): Dependencies['buffer'] {
  const names = Object.values(carried).flat();
  const known = {
    drivers: (source: string, kind: string) => driversOf(reads, source, kind),
    driver: (source: string, id: string) => driversOf(reads, source, 'accepted').find((one) => one.id === id),
    acceptedSources: () => Object.keys(reads).flatMap((name) => (/^(.*) accepted$/.exec(name) ?? []).slice(1)),
    parts: (source: string, kind: string) =>
      `${source} ${kind}` in reads
        ? [{ name: 'export', carried: false }, ...(carried[source] ?? []).map((name) => ({ name, carried: true }))]
        : undefined,
    sharedDrivers: (some: readonly { readonly source: string; readonly kind: string }[]) => {
      const having = some.flatMap(({ source, kind }) =>
        driversOf(reads, source, kind).map(({ id }) => ({ id, source })),
      );
      const sources = Map.groupBy(having, ({ id }) => id);
      return [...sources]
        .filter(([, all]) => all.length > 1)
        .map(([id, all]) => ({ driver: id, sources: all.map(({ source }) => source) }));
    },
  };
  // Cells of `packed.ts` are of part 1.
  return {
    reads: known,
    parts: { origin: () => ({ name: names[0] ?? 'export' }) },
  } as unknown as Dependencies['buffer'];
}
