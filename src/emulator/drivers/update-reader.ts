/** Reads the body of an update while it arrives, driver by driver, and collects its issues. */
import type { z } from 'zod';
import { shouldDeleteMissingSchema, updateSchema } from '../../contract/driver-push.ts';
import { Issues } from '../issues.ts';
import type { Issue } from '../issues.ts';
import { ByteInput, JsonError } from './byte-input.ts';
import type { JsonSlice, Waiting } from './byte-input.ts';
import { readDriver } from './driver-reader.ts';
import { aKey } from './json-grammar.ts';
import { parseSlice } from './json-slice.ts';
import type { PackedDriver } from './points.ts';

export class UpdateReader {
  /** `undefined` until it is read; the default is false. */
  shouldDeleteMissing: boolean | undefined;
  /** Accepted elements of `extDrivers` so far, and their points. */
  readonly counts = { drivers: 0, points: 0 };

  readonly #input = new ByteInput();
  readonly #issues = new Issues();
  readonly #reading: Waiting<void>;
  #ready: PackedDriver[] = [];
  /** The place in the update that is being read, for issues. */
  #place: (string | number)[] = [];
  #stopped = false;
  readonly #far = { count: 0, time: '' };

  constructor() {
    this.#reading = this.#update();
  }

  /** Takes the next bytes and returns the drivers that ended in them, in order. */
  push(chunk: Uint8Array): readonly PackedDriver[] {
    this.#input.feed(chunk);
    this.#resume();
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  /** To be called after the last byte. An update with issues must not be applied. */
  end(): readonly Issue[] {
    this.#input.end();
    this.#resume();
    return this.#issues.list;
  }

  /** Reads on. Once the list of issues is full or reading failed, the remaining bytes are ignored. */
  #resume(): void {
    if (this.#stopped) return;
    try {
      this.#stopped = this.#reading.next().done === true || this.#issues.isFull;
    } catch (error) {
      this.#stopped = true;
      if (error instanceof JsonError) {
        this.#issues.add(this.#place, `cannot be read as JSON: ${error.message} at byte ${error.offset}`);
      } else if (error instanceof Unreadable) {
        this.#issues.add(this.#place, error.message);
      } else throw error;
    }
  }

  *#update(): Waiting<void> {
    const input = this.#input;
    yield* input.byteOrderMark();
    const opening = yield* input.peek();
    if (opening === undefined) throw new JsonError('the body is empty', input.offset);
    if (isBeginOfAnother(opening)) throw new Unreadable(messageFor(updateSchema, parseSlice(yield* input.value())));
    yield* input.oneOf('{', 'the object of an update');
    const seen = new Set<string>();
    if ((yield* input.peek()) === 0x7d) yield* input.oneOf('}', '"}"');
    else {
      do yield* this.#member(seen);
      while ((yield* input.oneOf(',}', '"," or "}"')) === ',');
    }
    this.#place = [];
    if (!seen.has('extDrivers')) this.#issues.add(['extDrivers'], 'is required');
    if ((yield* input.peek()) !== undefined) throw new JsonError('more text after the end of the object', input.offset);
  }

  *#member(seen: Set<string>): Waiting<void> {
    this.#place = [];
    yield* this.#input.look('"', seen.size === 0 ? `${aKey} or "}"` : aKey);
    const key = parseSlice(yield* this.#input.value()) as string;
    yield* this.#input.oneOf(':', '":"');
    this.#place = [key];
    if (seen.has(key)) throw new Unreadable('is given twice');
    seen.add(key);
    if (key === 'shouldDeleteMissing') yield* this.#shouldDeleteMissing();
    else if (key === 'extDrivers') yield* this.#extDrivers();
    else throw new Unreadable('is not a known key');
    this.#place = [];
  }

  *#shouldDeleteMissing(): Waiting<void> {
    const value = parseSlice(yield* this.#input.value());
    if (typeof value === 'boolean') this.shouldDeleteMissing = value;
    else this.#issues.add(this.#place, messageFor(shouldDeleteMissingSchema, value));
  }

  *#extDrivers(): Waiting<void> {
    const input = this.#input;
    if ((yield* input.peek()) !== 0x5b) {
      throw new Unreadable(messageFor(updateSchema.shape.extDrivers, parseSlice(yield* input.value())));
    }
    yield* input.oneOf('[', '"["');
    if ((yield* input.peek()) === 0x5d) {
      yield* input.oneOf(']', '"]"');
      return;
    }
    let index = 0;
    do {
      this.#place = ['extDrivers', index];
      this.#driver(yield* input.value());
      index += 1;
    } while ((yield* input.oneOf(',]', '"," or "]"')) === ',');
  }

  /** What was taken although it looks like a mistake. */
  get warnings(): string[] {
    const { count, time } = this.#far;
    if (count === 0) return [];
    const drivers = count === 1 ? 'a driver has times' : `${count} drivers have times`;
    return [`${drivers} after the year 9999, such as ${time}: a time is in seconds, and this looks like milliseconds`];
  }

  /** Points are packed by month, so the last one has the latest time. */
  #watchTimes({ points }: PackedDriver): void {
    const written = points.slice(points.lastIndexOf(',') + 1, points.lastIndexOf(' '));
    if (written.length < lastSecond.length) return;
    const time = written.replace(/^0+(?=\d)/, '');
    const isNear = time.length < lastSecond.length || (time.length === lastSecond.length && time <= lastSecond);
    if (isNear || time.startsWith('-')) return;
    this.#far.count += 1;
    this.#far.time ||= time.length > shownDigitsMax ? `${time.slice(0, shownDigitsMax)}...` : time;
  }

  #driver(slice: JsonSlice): void {
    const read = readDriver(slice, this.#place, this.#issues);
    if (read === undefined) return;
    this.counts.drivers += 1;
    this.counts.points += read.points;
    this.#watchTimes(read.driver);
    // An update with issues is not applied, so its drivers are dropped.
    if (this.#issues.list.length === 0) this.#ready.push(read.driver);
  }
}

/** Whether a JSON value that is no object may begin so. */
function isBeginOfAnother(byte: number): boolean {
  return '["-0123456789tfn'.includes(String.fromCharCode(byte));
}

/** Why the schema does not take this value. */
function messageFor(schema: z.ZodType, value: unknown): string {
  return schema.safeParse(value).error?.issues[0]?.message ?? 'is not understood';
}

/** The last of the year 9999. */
const lastSecond = '253402300799';

const shownDigitsMax = 20;

/** A problem at the current place after which reading on makes no sense. */
class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
