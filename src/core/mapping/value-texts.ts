/** The texts that an entry reads its values of, row by row, and which of them are numbers. */
import type { DriverEntry } from '../settings.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { FieldPlace } from './columns.ts';
import { type Maps, isTextOfField, onlyPlaceholder, renderText, templateColumns } from './template.ts';

/** By row of the batch at hand. */
export interface ValueTexts {
  readonly text: (at: number) => string;
  /** Whether the text of a row is of a field that is stored as a number: marks are for texts. */
  readonly isNumber: (at: number) => boolean;
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
  // Every number is read as it is then.
  if (format.decimal === '.') return { text: rendered, isNumber: never };
  const isStored = (at: number, column: string): boolean => {
    const place = places.get(column);
    return typeof place === 'number' && batch.values(place).isNumber?.(at) === true;
  };
  const only = onlyPlaceholder(from);
  if (only !== undefined) {
    const isNumber = (at: number): boolean =>
      isStored(at, only.column) && isTextOfField(only, field(at)(only.column), maps);
    return { text: rendered, isNumber };
  }
  const text = (at: number): string =>
    renderText(from, field(at), maps, (placeholder, stored, given) =>
      isStored(at, placeholder.column) && isTextOfField(placeholder, stored, maps)
        ? given.replace('.', format.decimal)
        : given,
    );
  return { text, isNumber: never };
}
