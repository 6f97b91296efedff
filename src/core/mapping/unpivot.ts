/** Wide columns to long rows, by a pattern over the header. */
import type { Row } from '../model.ts';
import type { Unpivot } from '../settings.ts';

/** The group of the pattern that says which of several value columns a header is of. */
export const valueGroup = 'value';

/** One long row of each wide one. */
interface LongRow {
  /** What it is called in a reason. */
  readonly label: string;
  /** The new columns but those of values: groups of the pattern, then the header itself. */
  readonly texts: readonly string[];
  /** For each value column where its field stands in the wide row; `undefined`: no such column. */
  readonly fields: readonly (number | undefined)[];
}

/** What a part's columns become. */
export interface Unpivoted {
  /** Names by index into a long row; '' for the columns that were unpivoted. */
  readonly names: readonly string[];
  readonly rows: readonly LongRow[];
  /** Headers whose group `value` is none of the value columns. */
  readonly strangers: readonly string[];
}

export function unpivot({ columns: pattern, name, value }: Unpivot, columns: readonly string[]): Unpivoted {
  const matches = columns.map((column) => pattern.exec(column));
  const isSeveral = value.length > 1;
  const groups = pattern.groupNames.filter((group) => !isSeveral || group !== valueGroup);
  const rows = new Map<string, { label: string; texts: string[]; fields: (number | undefined)[] }>();
  const strangers: string[] = [];
  for (const [index, match] of matches.entries()) {
    if (match === undefined) continue;
    const column = columns[index] as string;
    const texts = groups.map((group) => match.get(group) ?? '');
    const at = isSeveral ? value.indexOf(match.get(valueGroup) ?? '') : 0;
    if (at < 0) {
      strangers.push(column);
      continue;
    }
    const key = isSeveral ? JSON.stringify(texts) : String(index);
    const row = rows.get(key) ?? {
      label: column,
      texts: [...texts, ...(name === undefined ? [] : [column])],
      fields: value.map(() => undefined),
    };
    row.fields[at] = index;
    rows.set(key, row);
  }
  const kept = columns.map((column, index) => (matches[index] === undefined ? column : ''));
  return {
    names: [...kept, ...groups, ...(name === undefined ? [] : [name]), ...value],
    rows: [...rows.values()],
    strangers,
  };
}

/** The new columns of an unpivot, in their order. */
export function unpivotNames(unpivoted: Unpivot): readonly string[] {
  return unpivot(unpivoted, []).names;
}

/** A long row, in the order of `names`. */
export function longRow(fields: Row, { texts, fields: places }: LongRow): Row {
  return [...fields, ...texts, ...places.map((at) => (at === undefined ? '' : (fields[at] as string)))];
}
