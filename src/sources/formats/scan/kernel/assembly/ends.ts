/** Where fields end. */
import { classesAt, endOfField } from '../layout';

/** Instead of a place: the field is for csv-parse to judge. */
export const notPlainField: usize = 0;
/** Instead of a place: a text does not fit. */
export const fullField: usize = 1;

// @ts-ignore: decorator
@inline
export function isEnd(context: usize, byte: u32): bool {
  return load<u8>(context + byte, classesAt) == endOfField;
}
