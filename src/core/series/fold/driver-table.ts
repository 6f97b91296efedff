/** The drivers of a fold: records of numbers, since objects would be spread over the memory. */
import { AgentError } from '../../errors.ts';
import type { DriverName, DriverNames } from '../../mapping/reading.ts';
import { MemoryArray } from '../../memory.ts';
import type { Moment, Rule } from '../../model.ts';
import { samePath } from '../merge-folds.ts';
import type { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';
import { Records } from './records.ts';

const { none } = place;

const startNames = 1 << 5;

/** By the number that a record has it as. */
const rules = ['last', 'first', 'min', 'max', 'sum', 'average', 'count'] as const satisfies readonly Rule[];

/** Drivers are numbered from 0. */
export class DriverTable {
  readonly otherPaths = new Map<number, readonly string[]>();
  readonly #kernel: FoldKernel;
  readonly #records: Records;
  /** By the number of a name, the driver of that name, or -1: with one numbering of names. */
  readonly #byName: MemoryArray<Int32Array>;
  readonly #byId = new Map<string, number>();
  #names: DriverName[] = [];
  #numbering: DriverNames | undefined;
  #generation = 0;

  constructor(kernel: FoldKernel) {
    this.#kernel = kernel;
    this.#records = new Records(kernel.memory, place.driverBytes);
    this.#byName = new MemoryArray(kernel.memory, Int32Array, startNames);
    this.#byName.view.fill(none);
    this.#describe();
  }

  get count(): number {
    return this.#names.length;
  }

  name(driver: number): DriverName {
    return this.#names[driver] as DriverName;
  }

  rule(driver: number): Rule {
    return rules[this.#records.int(driver, place.driverRuleAt)] as Rule;
  }

  /** Notes the cell of its newest reading, where the kernel looks first. */
  setCell(driver: number, cell: number): void {
    this.#records.setInt(driver, place.driverCellAt, cell);
  }

  /** Where the list of its cells begins, or -1. */
  newest(driver: number): number {
    return this.#records.int(driver, place.driverNewestAt);
  }

  setNewest(driver: number, cell: number): void {
    this.#records.setInt(driver, place.driverNewestAt, cell);
  }

  /** The place of its latest reading. */
  latest(driver: number): { readonly seconds: number; readonly nanos: number; readonly row: number } {
    return {
      seconds: this.#records.double(driver, place.driverSecondsAt),
      nanos: this.#records.int(driver, place.driverNanosAt),
      row: this.#records.double(driver, place.driverRowAt),
    };
  }

  /** The entry that made its latest reading. */
  entry(driver: number): number {
    return this.#records.int(driver, place.driverEntryAt);
  }

  /** To be called before readings are taken that are named so. */
  use(names: DriverNames): void {
    const byName = this.#byName;
    if (names !== this.#numbering || names.generation !== this.#generation) {
      this.#numbering = names;
      this.#generation = names.generation;
      byName.view.fill(none);
      for (let driver = 0; driver < this.count; driver++) this.#records.setInt(driver, place.driverNamedAt, none);
    }
    const { length } = byName;
    if (names.size <= length) return;
    byName.grow(Math.max(names.size, 2 * length));
    byName.view.fill(none, length);
    this.#describe();
  }

  /** The number of a reading's driver, which also takes its place and path if it is the latest. */
  find(named: number, entry: number, { seconds, nanos }: Omit<Moment, 'month' | 'months'>, row: number): number {
    const known = this.#byName.view[named] as number;
    const driver = known === none ? this.#meet(named) : known;
    const records = this.#records;
    const later =
      seconds - records.double(driver, place.driverSecondsAt) ||
      nanos - records.int(driver, place.driverNanosAt) ||
      row - records.double(driver, place.driverRowAt);
    if (records.int(driver, place.driverNamedAt) !== named) this.#rename(driver, named, later >= 0);
    if (later < 0) return driver;
    records.setDouble(driver, place.driverSecondsAt, seconds);
    records.setInt(driver, place.driverNanosAt, nanos);
    records.setDouble(driver, place.driverRowAt, row);
    records.setInt(driver, place.driverEntryAt, entry);
    return driver;
  }

  clear(): void {
    this.#names = [];
    this.#byId.clear();
    this.otherPaths.clear();
    this.#byName.view.fill(none);
  }

  /** The driver of a name that readings have not named by this number before. */
  #meet(named: number): number {
    const name = (this.#numbering as DriverNames).of(named);
    const driver = this.#byId.get(name.id) ?? this.#create(name, named);
    this.#byName.view[named] = driver;
    return driver;
  }

  #create(name: DriverName, named: number): number {
    const driver = this.#names.push(name) - 1;
    const records = this.#records;
    if (records.reserve(driver + 1)) this.#describe();
    this.#byId.set(name.id, driver);
    // Whatever comes is later.
    records.setDouble(driver, place.driverSecondsAt, -Infinity);
    records.setInt(driver, place.driverNamedAt, named);
    records.setInt(driver, place.driverCellAt, none);
    records.setInt(driver, place.driverNewestAt, none);
    records.setInt(driver, place.driverRuleAt, rules.indexOf(name.rule));
    return driver;
  }

  /** @throws AgentError `part.unreadable` where the names differ in their rule */
  #rename(driver: number, named: number, isLater: boolean): void {
    const before = this.name(driver);
    const name = (this.#numbering as DriverNames).of(named);
    if (before.rule !== name.rule) {
      throw new AgentError(
        'part.unreadable',
        `driver "${name.id}" is made with collapse ${before.rule} and ${name.rule}`,
        {
          hint: 'give the entries that make this id the same collapse, or different ids',
        },
      );
    }
    if (!samePath(before.path, name.path)) this.otherPaths.set(driver, isLater ? before.path : name.path);
    if (!isLater) return;
    this.#names[driver] = name;
    this.#records.setInt(driver, place.driverNamedAt, named);
  }

  #describe(): void {
    this.#kernel.set(place.driversAt, this.#records.address);
    this.#kernel.set(place.byNameAt, this.#byName.address);
  }
}
