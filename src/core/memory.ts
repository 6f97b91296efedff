/**
 * Memory that JavaScript and programs in WebAssembly both work on. A program keeps nothing of its own: everything has a place that this side
 * gives it.
 */
import { AgentError } from './errors.ts';
import { type WasmMemory, newWasmMemory, startProgram, wasmPageBytes } from './wasm.ts';

/** As long as what a processor reads of its memory at once. */
const alignment = 64;
/** A place that may be read behind whatever is read 16 bytes at a time. */
const slackBytes = 64;
/** It grows by as much as it has, within this: V8 counts each growth as new memory, and collects garbage for it. What nobody writes to costs nothing. */
const growthMax = 1 << 24;

/** A memory of WebAssembly with the programs that were started on it: to make one takes longer than to read a small file. */
interface Kept {
  readonly memory: WasmMemory;
  readonly programs: Map<string, unknown>;
}

/** Addresses are integers with a sign. */
const addressMax = 2 ** 31;

/** Those that nobody uses, and how many and how large they may be. */
const unused: Kept[] = [];
const unusedMax = 16;
const unusedBytesMax = 1_000_000;

/** Leaves to the collector what nobody uses. */
export function forgetUnused(): void {
  unused.length = 0;
}

/** A bare memory, for a program that keeps it as long as the process lives. @throws AgentError as `Memory` */
export function wasmMemory(): WasmMemory {
  return unused.pop()?.memory ?? reserve();
}

export class Memory {
  /** All of it, in three forms; others after `allocate`. */
  bytes!: Buffer;
  ints!: Int32Array;
  doubles!: Float64Array;
  #kept: Kept;
  #used = alignment;
  #followers: (() => void)[] = [];

  /** @throws AgentError `part.unreadable` where the process may have no more addresses */
  constructor() {
    this.#kept = unused.pop() ?? { memory: reserve(), programs: new Map() };
    this.#look();
  }

  /** What a program gives to be called. @param program in base64, as `npm run kernels` writes it */
  start<Exports>(program: string): Exports {
    const { memory, programs } = this.#kept;
    let exports = programs.get(program) as Exports | undefined;
    if (exports === undefined) {
      exports = startProgram<Exports>(program, memory);
      programs.set(program, exports);
    }
    return exports;
  }

  /** The address of so many bytes that nobody else has. They are zero. */
  allocate(bytes: number): number {
    const at = this.#used;
    this.#used = Math.ceil((at + bytes) / alignment) * alignment;
    if (this.#used >= addressMax) throw new AgentError('part.unreadable', 'reading it takes more than 2 GB of memory');
    const missing = this.#used + slackBytes - this.bytes.length;
    if (missing > 0) {
      const more = Math.max(missing, Math.min(this.bytes.length, growthMax));
      this.#kept.memory.grow(Math.ceil(more / wasmPageBytes));
      this.#look();
      for (const refresh of this.#followers) refresh();
    }
    return at;
  }

  /** `refresh` is called now and whenever the memory is another one: views of the one before are empty then. */
  follow(refresh: () => void): void {
    this.#followers.push(refresh);
    refresh();
  }

  get(address: number): number {
    return this.ints[address >> 2] as number;
  }

  set(address: number, value: number): void {
    this.ints[address >> 2] = value;
  }

  /** To be called when nobody works on it any more. All views of it are empty then. */
  [Symbol.dispose](): void {
    const kept = this.#kept;
    if (kept.memory === noMemory) return;
    const isSmall = this.#used <= unusedBytesMax;
    if (isSmall) this.bytes.fill(0, 0, this.#used);
    kept.memory.grow(0);
    if (isSmall && unused.length < unusedMax) unused.push(kept);
    // Whoever goes on with it works on nothing, and not on what is another's by now.
    this.#kept = { memory: noMemory, programs: new Map() };
    this.#followers = [];
    this.#look();
  }

  #look(): void {
    const { buffer } = this.#kept.memory;
    this.bytes = Buffer.from(buffer);
    this.ints = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
  }
}

function reserve(): WasmMemory {
  try {
    return newWasmMemory();
  } catch (error) {
    throw new AgentError('part.unreadable', 'the system gives this process no more address space', {
      hint: 'raise or remove its limit (ulimit -v, or LimitAS= of the unit): reading reserves 10 GB of addresses for each of up to three memories, and fills a small part of them',
      cause: error,
    });
  }
}

const noMemory: WasmMemory = {
  buffer: new ArrayBuffer(0),
  grow: () => {
    throw new Error('a memory is used that was given back');
  },
};

type NumberArray = Int8Array | Uint8Array | Int32Array | Float64Array;

interface ArrayType<T extends NumberArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, at: number, length: number): T;
}

/** An array in a memory, which may grow. */
export class MemoryArray<T extends NumberArray> {
  address: number;
  /** Another one after anything was allocated. */
  view!: T;
  readonly #memory: Memory;
  readonly #type: ArrayType<T>;
  #length: number;

  constructor(memory: Memory, type: ArrayType<T>, length: number) {
    this.#memory = memory;
    this.#type = type;
    this.#length = length;
    this.address = memory.allocate(length * type.BYTES_PER_ELEMENT);
    memory.follow(() => this.#look());
  }

  get length(): number {
    return this.#length;
  }

  /** What it holds goes along. */
  grow(length: number): void {
    const before = this.address;
    const bytes = this.#length * this.#type.BYTES_PER_ELEMENT;
    this.address = this.#memory.allocate(length * this.#type.BYTES_PER_ELEMENT);
    this.#length = length;
    this.#memory.bytes.copyWithin(this.address, before, before + bytes);
    this.#look();
  }

  #look(): void {
    this.view = new this.#type(this.#memory.bytes.buffer as ArrayBuffer, this.address, this.#length);
  }
}

/** A place in a memory for an array that comes from elsewhere, again and again. */
export class Inlet {
  readonly #memory: Memory;
  #address = 0;
  #bytes = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Copies the first elements of an array. @returns where they are */
  put(array: NumberArray, count: number): number {
    const each = array.BYTES_PER_ELEMENT;
    if (count * each > this.#bytes) {
      this.#bytes = 2 * count * each;
      this.#address = this.#memory.allocate(this.#bytes);
    }
    const { bytes, ints, doubles } = this.#memory;
    // A view for each of them would keep the collector busy.
    const elements = count === array.length ? array : array.subarray(0, count);
    if (elements instanceof Float64Array) doubles.set(elements, this.#address >> 3);
    else if (elements instanceof Int32Array) ints.set(elements, this.#address >> 2);
    else bytes.set(elements, this.#address);
    return this.#address;
  }
}
