/** What mapping does for each row, in WebAssembly. Its source is in `assembly/`; `npm run kernels` compiles it to `program.ts`. */
import { Memory } from '../../memory.ts';
import { program } from './program.ts';

/** The rows of a batch that are read: all of them, or those of a list. */
export interface ReadRows {
  readonly count: number;
  /** Where the list is in the memory of the mapping; 0: all. */
  readonly list: number;
}

/** See `assembly/index.ts`. */
interface Exports {
  fillSlots(tuples: number): void;
  findTuples(tuples: number, list: number, from: number, to: number, into: number): number;
  lookUp(keys: number, known: number, knownCount: number, list: number, from: number, to: number, into: number): number;
  readPlain(
    units: number,
    count: number,
    list: number,
    from: number,
    to: number,
    rowsBefore: number,
    readings: number,
  ): number;
}

export class MappingKernel {
  readonly memory = new Memory();
  readonly call = this.memory.start<Exports>(program);

  /** The row of the batch that stands at an index of the rows that are read. */
  rowAt({ list }: ReadRows, index: number): number {
    return list === 0 ? index : this.memory.get(list + 4 * index);
  }
}
