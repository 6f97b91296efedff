/** Who owns the data of one source: keeps its books, and writes its exports into its place. */
import type { Entropy } from '../entropy.ts';
import { Books, type Slip, sheetOf } from '../rows/books.ts';
import { factKey } from '../rows/facts.ts';
import type { Family } from '../rows/family.ts';
import type { Grid } from '../rows/grid.ts';
import type { Place, Sheet, WorldFile } from './place.ts';
import type { WorldClock } from './clock.ts';

/** `whole`: one part has everything; `items`: each part has some of the items; `dated`: each export is a new part. */
type Layout = 'whole' | 'items' | 'dated';

export interface Exporting {
  readonly slip?: Slip | undefined;
  /** Whose numbers slip; `undefined`: all. */
  readonly slipping?: readonly number[] | undefined;
  /** Files stay the same ones: rows are appended, and numbers are changed where they stand. */
  readonly isInPlace?: boolean;
  /** The last line of each file is still being written. */
  readonly isTorn?: boolean;
  /** A file whose first row is missing. */
  readonly lacks?: string | undefined;
}

function torn({ columns, rows }: Sheet): Sheet {
  return sheetOf(columns, rows.slice(0, -1), { isCut: true, endsWithLineEnd: false });
}

const nothing = { items: [], facts: new Set<number>() } as const;

export class Owner {
  readonly place: Place;
  readonly books: Books;
  readonly family: Family;
  readonly #clock: WorldClock;
  readonly #layout: Layout;
  readonly #partsMax: number;
  #items: readonly number[];
  #months: { first: number; last: number };
  /** What it left out since it was last whole. */
  #dropped: { readonly items: readonly number[]; readonly facts: ReadonlySet<number> } = nothing;
  #exports = 0;
  /** What each part was before. */
  readonly #earlier = new Map<string, WorldFile>();

  constructor(
    place: Place,
    grid: Grid,
    {
      clock,
      entropy,
      family,
      lastMonth,
    }: {
      readonly clock: WorldClock;
      readonly entropy: Entropy;
      readonly family: Family;
      readonly lastMonth: number;
    },
  ) {
    const { name, kind } = place;
    this.place = place;
    this.#clock = clock;
    this.family = family;
    this.books = new Books(name, grid, { facts: family.facts, entropy });
    const isSplit = kind.nature !== 'server' && entropy.isIn(0.4, 'layout', name);
    this.#layout = kind.isNewestOnly ? 'dated' : isSplit ? 'items' : 'whole';
    this.#partsMax = entropy.between(2, 3, 'parts', name);
    place.grows = kind.mayGrow && this.#layout !== 'dated' && entropy.isIn(0.5, 'grows', name);
    // Most of what goes wrong goes wrong with few rows, and those are played in half the time.
    const isSmall = entropy.isIn(0.4, 'small', family.name);
    this.#items = family.begin(entropy.between(2, isSmall ? 4 : 12, 'items', name));
    this.#months = { first: lastMonth - entropy.between(2, isSmall ? 4 : 13, 'months', family.name), last: lastMonth };
  }

  get parts(): readonly string[] {
    return [...this.place.files.keys()];
  }

  get items(): readonly number[] {
    return this.#items;
  }

  get months(): { readonly first: number; readonly last: number } {
    return this.#months;
  }

  addMonth(): void {
    this.#months = { ...this.#months, last: this.#months.last + 1 };
  }

  /** One number of the months that there are is another one. */
  changeAbove(draw: Entropy): void {
    const { first, last } = this.#months;
    this.books.restate(draw.pick(this.#items, 'above item'), draw.between(first, last, 'above month'));
  }

  dropOldest(): boolean {
    const { first, last } = this.#months;
    if (last - first < 2) return false;
    this.#months = { first: first + 1, last };
    return true;
  }

  addItem(): boolean {
    const item = this.family.another();
    if (item === undefined) return false;
    this.#items = [...this.#items, item];
    return true;
  }

  /** Another source tells of these from now on, or none. */
  give(items: readonly number[]): void {
    this.#items = this.#items.filter((item) => !items.includes(item));
  }

  /** Tells of these from now on, whoever else does. */
  take(items: readonly number[]): void {
    this.#items = [...new Set([...this.#items, ...items])];
    this.books.reopen();
  }

  dropItem(at: number): boolean {
    if (this.#items.length < 2) return false;
    this.#items = this.#items.filter((_, index) => index !== at % this.#items.length);
    return true;
  }

  /** Items that may go without their part. */
  get spareItems(): readonly number[] {
    const partOf = (item: number): number => (this.#layout === 'items' ? item % this.#partsMax : 0);
    const parts = Map.groupBy(this.#items, partOf);
    return this.#items.filter((item) => (parts.get(partOf(item))?.length ?? 0) > 1);
  }

  /** The months in which it tells of an item. */
  monthsOf(item: number): readonly number[] {
    const { first, last } = this.#months;
    const all = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    return all.filter((month) => !this.#dropped.facts.has(factKey(item, month)));
  }

  /** The items that are left out. */
  get dropped(): readonly number[] {
    return this.#dropped.items;
  }

  /** Leaves an item out, until it is brought back. */
  leaveOut(item: number): void {
    this.give([item]);
    this.#dropped = { ...this.#dropped, items: [...this.#dropped.items, item] };
  }

  /** Leaves one month of an item out, until it is brought back. */
  leaveOutMonth(item: number, month: number): void {
    this.#dropped = { ...this.#dropped, facts: new Set([...this.#dropped.facts, factKey(item, month)]) };
  }

  /** All that was left out is there again. */
  bringBack(): boolean {
    const { items, facts } = this.#dropped;
    if (items.length + facts.size === 0) return false;
    this.#dropped = nothing;
    this.take(items);
    return true;
  }

  /** Writes what the books say, each part anew where it changed. What else lies in the place is cleared away. */
  export({ isInPlace = false, isTorn = false, lacks, ...slipped }: Exporting = {}): void {
    const wanted = this.#sheets(slipped);
    for (const name of this.parts) if (!wanted.has(name) && this.#layout !== 'dated') this.place.remove(name);
    for (const [name, whole] of wanted) {
      const sheet = isTorn ? torn(whole) : name === lacks ? sheetOf(whole.columns, whole.rows.slice(1)) : whole;
      if (this.place.files.get(name)?.sheet.hash !== sheet.hash) this.put(name, sheet, { isInPlace });
    }
    this.place.isAway = false;
    this.changed();
  }

  #sheets(slipped: Pick<Exporting, 'slip' | 'slipping'>): ReadonlyMap<string, Sheet> {
    const names =
      this.#layout === 'items' ? Array.from({ length: this.#partsMax }, (_, at) => `part-${at + 1}`) : ['export'];
    if (this.#layout === 'dated') names[0] = `export-${String(++this.#exports).padStart(4, '0')}`;
    // Each place is a folder of its own, and the name of a part says which.
    const folder = this.family.members === 1 ? '' : `${this.place.name}/`;
    return new Map(
      names.flatMap((name, at) => {
        const items =
          this.#layout === 'items' ? this.#items.filter((item) => item % this.#partsMax === at) : this.#items;
        if (items.length === 0) return [];
        const part = `${folder}${name}`;
        return [
          [
            part,
            this.books.sheet({ part, items, months: this.#months, without: this.#dropped.facts, ...slipped }),
          ] as const,
        ];
      }),
    );
  }

  /** All that its owner means now, as one export would have it. */
  meant(): Sheet {
    return this.books.sheet({
      part: 'export',
      items: this.#items,
      months: this.#months,
      without: this.#dropped.facts,
    });
  }

  /** The place shows an older state of a part, as a replica that lags or a restored backup does. */
  goBack(part: string): boolean {
    const earlier = this.#earlier.get(part);
    if (earlier === undefined) return false;
    this.put(part, earlier.sheet, this.place.kind.isDated ? { version: earlier.version } : {});
    this.changed();
    return true;
  }

  put(part: string, sheet: Sheet, how: { readonly version?: string; readonly isInPlace?: boolean } = {}): void {
    const before = this.place.files.get(part);
    if (before !== undefined) this.#earlier.set(part, before);
    this.place.write(part, sheet, { revisedAtMs: this.#clock.now().getTime(), ...how });
  }

  /** Tells whoever watches: a hint, and no more. */
  changed(): void {
    this.place.watcher?.();
  }
}
