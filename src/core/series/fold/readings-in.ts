/** Puts readings where the kernel of a fold finds them. */
import type { ReadTimes, Readings } from '../../mapping/reading.ts';
import { Inlet, MemoryArray } from '../../memory.ts';
import type { NumberMarks } from '../../numbers/spelling.ts';
import type { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';

const startTimes = 1 << 6;

export class ReadingsIn {
  readonly #kernel: FoldKernel;
  /** In the order of `layout.ts`. */
  readonly #columns: readonly Inlet[];
  readonly #months: MemoryArray<Int32Array>;
  readonly #seconds: MemoryArray<Float64Array>;
  readonly #nanos: MemoryArray<Int32Array>;
  /** What the times are those of. */
  #times: ReadTimes | undefined;
  #generation = 0;
  #timesCount = 0;
  #marks: readonly NumberMarks[] | undefined;

  constructor(kernel: FoldKernel) {
    const { memory } = kernel;
    this.#kernel = kernel;
    this.#columns = Array.from({ length: 7 }, () => new Inlet(memory));
    this.#months = new MemoryArray(memory, Int32Array, startTimes);
    this.#seconds = new MemoryArray(memory, Float64Array, startTimes);
    this.#nanos = new MemoryArray(memory, Int32Array, startTimes);
    this.#describeTimes();
  }

  put(readings: Readings): void {
    const { named, timed, mantissas, scales, spelled, rows, entries, count, times } = readings;
    for (const [at, column] of [named, timed, mantissas, scales, spelled, rows, entries].entries()) {
      this.#kernel.set(place.namedAt + 4 * at, (this.#columns[at] as Inlet).put(column, count));
    }
    this.#putTimes(times);
    this.#putMarks(readings.marks);
  }

  #putMarks(marks: readonly NumberMarks[]): void {
    if (marks === this.#marks) return;
    this.#marks = marks;
    const bytes = marks.flatMap(({ decimal, group = '' }) => [decimal.charCodeAt(0), group.charCodeAt(0) || 0]);
    this.#kernel.set(place.marksAt, new Inlet(this.#kernel.memory).put(Uint8Array.from(bytes), bytes.length));
  }

  /** Times are only added, but where they are numbered anew. */
  #putTimes(times: ReadTimes): void {
    if (times !== this.#times || times.generation !== this.#generation) {
      this.#times = times;
      this.#generation = times.generation;
      this.#timesCount = 0;
    }
    const { size } = times;
    if (size === this.#timesCount) return;
    if (size > this.#months.length) {
      for (const column of [this.#months, this.#seconds, this.#nanos]) column.grow(Math.max(size, 2 * column.length));
      this.#describeTimes();
    }
    this.#months.view.set(times.months.subarray(this.#timesCount, size), this.#timesCount);
    this.#seconds.view.set(times.seconds.subarray(this.#timesCount, size), this.#timesCount);
    this.#nanos.view.set(times.nanos.subarray(this.#timesCount, size), this.#timesCount);
    this.#timesCount = size;
  }

  #describeTimes(): void {
    this.#kernel.set(place.monthsAt, this.#months.address);
    this.#kernel.set(place.secondsAt, this.#seconds.address);
    this.#kernel.set(place.nanosAt, this.#nanos.address);
  }
}
