/** What folding does for most readings, in WebAssembly. Its source is in `assembly/`; `npm run kernels` compiles it to `program.ts`. */
import { Memory } from '../../memory.ts';
import { foldBytes } from './layout.ts';
import { program } from './program.ts';

/** See `assembly/index.ts`. */
interface Exports {
  slotOf(fold: number, driver: number, month: number): number;
  fillSlots(fold: number): void;
  create(fold: number, driver: number, month: number, next: number, slot: number): number;
  take(fold: number, from: number, to: number): number;
  pack(
    fold: number,
    driver: number,
    part: number,
    rowsBefore: number,
    order: number,
    points: number,
    origins: number,
  ): number;
}

export class FoldKernel {
  readonly memory = new Memory();
  readonly call = this.memory.start<Exports>(program);
  /** Where the kernel finds what a fold works on. */
  readonly context = this.memory.allocate(foldBytes);

  get(at: number): number {
    return this.memory.get(this.context + at);
  }

  set(at: number, value: number): void {
    this.memory.set(this.context + at, value);
  }
}
