/** JSON that somebody hands over to set the emulator up, in a file or a request: nothing of it is guessed or left out. */
import { JsonError } from './drivers/byte-input.ts';
import { duplicateMembers, parseSlice } from './drivers/json-slice.ts';
import { textOfPath } from './issues.ts';

/** The message can follow "is", or stand alone. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem';
}

const byteOrderMark = Buffer.from('\uFEFF');

/** Reads UTF-8, with or without a byte order mark. @throws JsonProblem also where a key is given twice in one object */
export function parseOnce(given: Uint8Array): unknown {
  const all = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const offset = all.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  const slice = { bytes: all.subarray(offset), offset, members: 0 };
  try {
    const value = parseSlice(slice);
    const [twice] = duplicateMembers(slice);
    if (twice === undefined) return value;
    throw new JsonProblem(`not clear: ${textOfPath(twice)} is given twice`);
  } catch (error) {
    if (error instanceof JsonError) {
      throw new JsonProblem(`not JSON: ${error.message} at byte ${error.offset}`, { cause: error });
    }
    if (error instanceof RangeError) throw new JsonProblem('not JSON: nested too deeply', { cause: error });
    throw error;
  }
}
