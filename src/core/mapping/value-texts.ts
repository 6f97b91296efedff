/** The texts that an entry reads its values of, row by row, and which of them are numbers. */
import type { DriverEntry } from '../settings.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { FieldPlace } from './columns.ts';
import {
  type Maps,
  type Placeholder,
  isTextOfField,
  onlyPlaceholder,
  renderText,
  templateColumns,
} from './template.ts';

/** By row of the batch at hand. */
export interface ValueTexts {
  readonly text: (at: number) => string;
  /** Whether the text of a row is of a field that is stored as a number: marks are for texts. */
  readonly isNumber: (at: number) => boolean;
  /** Whether there is such a number in it, be it beside other texts. */
  readonly hasNumber: (at: number) => boolean;
}

interface ValueFields {
  readonly batch: BatchColumns;
  readonly maps: Maps;
  readonly placeOf: (column: string) => FieldPlace;
}

const never = (): boolean => false;

/**
 * What filters take of a number is one still: it has a point, also where its sign went. Beside other texts it is written with the mark of
 * the entry, since all of them together are a text.
 */
export function valueTexts({ from, format }: DriverEntry['value'], { batch, maps, placeOf }: ValueFields): ValueTexts {
  const places = new Map(templateColumns(from).map((column) => [column, placeOf(column)]));
  const field =
    (at: number) =>
    (column: string): string => {
      const place = places.get(column) as FieldPlace;
      return typeof place === 'number' ? batch.text(place, at) : place.text;
    };
  const rendered = (at: number): string => renderText(from, field(at), maps);
  const isStored = (at: number, column: string): boolean => {
    const place = places.get(column);
    return typeof place === 'number' && batch.values(place).isNumber?.(at) === true;
  };
  const isNumberOf = (at: number, placeholder: Placeholder): boolean =>
    isStored(at, placeholder.column) && isTextOfField(placeholder, field(at)(placeholder.column), maps);
  const hasNumber = (at: number): boolean =>
    from.pieces.some((piece) => typeof piece === 'object' && isNumberOf(at, piece));
  // Every number is read as it is then.
  if (format.decimal === '.') return { text: rendered, isNumber: never, hasNumber };
  const only = onlyPlaceholder(from);
  if (only !== undefined) return { text: rendered, isNumber: (at) => isNumberOf(at, only), hasNumber };
  const text = (at: number): string =>
    renderText(from, field(at), maps, (placeholder, _stored, given) =>
      isNumberOf(at, placeholder) ? given.replace('.', format.decimal) : given,
    );
  return { text, isNumber: never, hasNumber };
}
