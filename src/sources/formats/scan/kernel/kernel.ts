/**
 * What is done for every byte and row of a scan, in WebAssembly: 16 bytes are compared at once, which JavaScript cannot do. Its source is
 * in `assembly/`; `npm run kernels` compiles it to `program.ts`. A kernel keeps nothing but its memory, in which everything has a place
 * that this side gives it.
 */
import { type WasmMemory, startProgram, wasmPageBytes } from '../../../../core/wasm.ts';
import { contextBytes, digitsAt, slackBytes } from './layout.ts';
import { program } from './program.ts';

interface Exports {
  readonly memory: WasmMemory;
  scan(context: number, bytesMax: number, fieldsMax: number): number;
  takeRagged(context: number, row: number, fields: number): void;
  scanRecords(context: number, bytesMax: number): number;
  find(context: number, column: number, from: number, length: number): number;
}

const alignment = 16;
/** A place that gives a zero. */
const noDigit = 0x80;

export class Kernel {
  /** All of its memory, in two forms; others after `allocate`. */
  bytes!: Buffer;
  ints!: Int32Array;
  readonly call: Exports;
  /** Where the context of a scan is. */
  readonly context: number;
  #used = alignment;
  readonly #followers: (() => void)[] = [];

  constructor() {
    this.call = startProgram(program);
    this.#look();
    this.context = this.allocate(contextBytes);
    this.#describeDigits();
  }

  /** The address of so many bytes that nobody else has, and of `slackBytes` behind them that may be read. They are zero. */
  allocate(bytes: number): number {
    const at = this.#used;
    this.#used = Math.ceil((at + bytes) / alignment) * alignment;
    const missing = this.#used + slackBytes - this.bytes.length;
    if (missing > 0) {
      this.call.memory.grow(Math.ceil(missing / wasmPageBytes));
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

  /** Where the digits of a decimal are among its bytes, so that the last one comes to be the last of 16. */
  #describeDigits(): void {
    for (let whole = 0; whole < 16; whole++) {
      for (let scale = 0; whole + scale < 16; scale++) {
        const places = this.context + digitsAt + 16 * (16 * whole + scale);
        this.bytes.fill(noDigit, places, places + 16);
        const first = 16 - whole - scale;
        for (let at = 0; at < whole + scale; at++) this.bytes[places + first + at] = at < whole ? at : at + 1;
      }
    }
  }

  #look(): void {
    const { buffer } = this.call.memory;
    this.bytes = Buffer.from(buffer);
    this.ints = new Int32Array(buffer);
  }
}
