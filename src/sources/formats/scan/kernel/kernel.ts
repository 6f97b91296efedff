/**
 * What is done for every byte and row of a scan, in WebAssembly: 16 bytes are compared at once, which JavaScript cannot do. Its source is
 * in `assembly/`; `npm run kernels` compiles it to `program.ts`.
 */
import { Memory } from '../../../../core/memory.ts';
import { contextBytes, digitsAt } from './layout.ts';
import { program } from './program.ts';

interface Exports {
  scan(context: number, bytesMax: number, fieldsMax: number): number;
  takeRagged(context: number, row: number, fields: number): void;
  scanRecords(context: number, bytesMax: number): number;
  find(context: number, column: number, from: number, length: number): number;
}

/** A place that gives a zero. */
const noDigit = 0x80;

export class Kernel extends Memory {
  readonly call = this.start<Exports>(program);
  /** Where the context of a scan is. */
  readonly context = this.allocate(contextBytes);

  constructor() {
    super();
    this.#describeDigits();
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
}
