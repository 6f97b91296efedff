/** The drivers of a fold: records of numbers, since objects would be spread over the memory. */
import { enlarged } from '../enlarged.ts';
import { AgentError } from '../errors.ts';
import type { DriverName, DriverNames } from '../mapping/reading.ts';
import type { Moment, Rule } from '../model.ts';
import { samePath } from './merge-folds.ts';

const none = -1;
const startCapacity = 1 << 5;

/** Numbers of a record, of 8 bytes each: the place of the latest reading. */
export const driverNumbers = 6;
export const latestSecondsIn = 0;
export const latestRowIn = 1;
/** Integers of a record, of 4 bytes each. */
export const driverIntegers = 2 * driverNumbers;
export const latestNanosIn = 4;
/** The entry that made the latest reading. */
export const latestEntryIn = 5;
/** The number that readings name it by as it is called now, or -1. */
export const namedIn = 6;
/** The cell of its newest reading, or -1: rows of one driver and month tend to follow each other. */
export const cellIn = 7;
/** Its newest cell, where the list of its cells begins. */
export const newestIn = 8;
/** Whether its rule is `last`, the one of most drivers. */
export const isLastRuleIn = 9;

/** Drivers are numbered from 0. */
export class DriverTable {
  /** The records, in both forms. */
  numbers = new Float64Array(startCapacity * driverNumbers);
  integers = new Int32Array(this.numbers.buffer);
  /** By the number of a name, the driver of that name, or -1: with one numbering of names. */
  byName = new Int32Array(startCapacity).fill(none);
  readonly otherPaths = new Map<number, readonly string[]>();
  readonly #byId = new Map<string, number>();
  #names: DriverName[] = [];
  #rules: Rule[] = [];
  #numbering: DriverNames | undefined;
  #generation = 0;

  get count(): number {
    return this.#names.length;
  }

  name(driver: number): DriverName {
    return this.#names[driver] as DriverName;
  }

  rule(driver: number): Rule {
    return this.#rules[driver] as Rule;
  }

  /** To be called before readings are taken that are named so. */
  use(names: DriverNames): void {
    if (names !== this.#numbering || names.generation !== this.#generation) {
      this.#numbering = names;
      this.#generation = names.generation;
      this.byName.fill(none);
      for (let driver = 0; driver < this.count; driver++) this.integers[driver * driverIntegers + namedIn] = none;
    }
    const { length } = this.byName;
    if (names.size <= length) return;
    this.byName = enlarged(this.byName, new Int32Array(Math.max(names.size, 2 * length)).fill(none, length));
  }

  /** The number of a reading's driver, which also takes its place and path if it is the latest. */
  find(named: number, entry: number, { seconds, nanos }: Omit<Moment, 'month' | 'months'>, row: number): number {
    let driver = this.byName[named] as number;
    if (driver === none) driver = this.#meet(named);
    const number = driver * driverNumbers;
    const integer = driver * driverIntegers;
    const { numbers, integers } = this;
    const later =
      seconds - (numbers[number + latestSecondsIn] as number) ||
      nanos - (integers[integer + latestNanosIn] as number) ||
      row - (numbers[number + latestRowIn] as number);
    if (integers[integer + namedIn] !== named) this.#rename(driver, named, later >= 0);
    if (later < 0) return driver;
    numbers[number + latestSecondsIn] = seconds;
    integers[integer + latestNanosIn] = nanos;
    numbers[number + latestRowIn] = row;
    integers[integer + latestEntryIn] = entry;
    return driver;
  }

  clear(): void {
    this.#names = [];
    this.#rules = [];
    this.#byId.clear();
    this.otherPaths.clear();
    this.byName.fill(none);
  }

  /** The driver of a name that readings have not named by this number before. */
  #meet(named: number): number {
    const name = (this.#numbering as DriverNames).of(named);
    const driver = this.#byId.get(name.id) ?? this.#create(name, named);
    this.byName[named] = driver;
    return driver;
  }

  #create(name: DriverName, named: number): number {
    const driver = this.#names.length;
    if ((driver + 1) * driverNumbers > this.numbers.length) {
      this.numbers = new Float64Array(this.numbers.buffer.transfer(2 * this.numbers.byteLength));
      this.integers = new Int32Array(this.numbers.buffer);
    }
    this.#names.push(name);
    this.#rules.push(name.rule);
    this.#byId.set(name.id, driver);
    // Whatever comes is later.
    this.numbers[driver * driverNumbers + latestSecondsIn] = -Infinity;
    const integer = driver * driverIntegers;
    this.integers[integer + namedIn] = named;
    this.integers[integer + cellIn] = none;
    this.integers[integer + newestIn] = none;
    this.integers[integer + isLastRuleIn] = name.rule === 'last' ? 1 : 0;
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
    this.integers[driver * driverIntegers + namedIn] = named;
  }
}
