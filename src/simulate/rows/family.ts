/**
 * Sources whose exports name the same drivers for the same items: a thing that one of them tells of may move to another. A source that
 * shares its names with no other one is a family of its own.
 */
import type { Entropy } from '../entropy.ts';
import { Facts } from './facts.ts';
import { type Grid, driverOf } from './grid.ts';

export class Family {
  readonly name: string;
  readonly facts: Facts;
  readonly members: number;
  /** How many items there may be. */
  readonly #size: number;
  #begun = 0;
  /** Items that their source gave up, and that no other one tells of yet. */
  homeless: readonly number[] = [];

  constructor({ name, members }: FamilyName, size: number, entropy: Entropy) {
    this.name = name;
    this.members = members;
    this.facts = new Facts(name, entropy);
    this.#size = size;
  }

  /** The items that one of its sources begins with. */
  begin(wanted: number): readonly number[] {
    const count = Math.max(1, Math.min(Math.floor(this.#size / this.members), wanted));
    return Array.from({ length: count }, () => this.#begun++);
  }

  /** An item that was never told of. */
  another(): number | undefined {
    return this.#begun < this.#size ? this.#begun++ : undefined;
  }
}

interface FamilyName {
  /** That of its first source. */
  readonly name: string;
  readonly members: number;
}

/** By source. */
export type FamilyNames = ReadonlyMap<string, FamilyName>;

export function familiesOf(grids: ReadonlyMap<string, Grid>): FamilyNames {
  const kin = Map.groupBy(grids, ([name, grid]) => (grid.isNamedByPart ? name : JSON.stringify(namesIn(grid))));
  const named = [...kin.values()].flatMap((members) =>
    members.map(([source]) => [source, { name: members[0]![0], members: members.length }] as const),
  );
  return new Map(named);
}

function namesIn({ items, mapping }: Grid): readonly unknown[] {
  return items.map((item) => mapping.drivers.map((entry) => driverOf(entry, item, { maps: mapping.maps, part: '' })));
}

/** The families of one history. */
export function openFamilies(
  names: FamilyNames,
  grids: ReadonlyMap<string, Grid>,
  entropy: Entropy,
): (source: string) => Family {
  const open = new Map<string, Family>();
  return (source) => {
    const named = names.get(source)!;
    const family = open.get(named.name) ?? new Family(named, grids.get(source)!.items.length, entropy);
    open.set(named.name, family);
    return family;
  };
}
