/** Turns columns whose headers match a pattern into rows. */
import type { Unpivot } from '../settings.ts';

/** The group of the pattern that says to which of several value columns a header belongs. */
export const valueGroup = 'value';

/** One of the long rows that each wide row becomes. */
interface LongRow {
  /** Its name in the reason of a reject. */
  readonly label: string;
  /** Fields of the new columns except those of values: groups of the pattern, then the header itself. */
  readonly texts: readonly string[];
  /** For each value column the index of its field in the wide row; `undefined`: the row has no such field. */
  readonly fields: readonly (number | undefined)[];
}

/** The columns of a part after unpivoting. */
export interface Unpivoted {
  /** Names of a long row's fields; '' for the columns that were unpivoted. */
  readonly names: readonly string[];
  readonly rows: readonly LongRow[];
  /** Headers whose group `value` names no value column. */
  readonly strangers: readonly string[];
  /** Headers that say the same value of the same row as another one before them, with that one. */
  readonly doubles: readonly (readonly [first: string, second: string])[];
}

export function unpivot({ columns: pattern, name, value }: Unpivot, columns: readonly string[]): Unpivoted {
  const matches = columns.map((column) => pattern.exec(column));
  const isSeveral = value.length > 1;
  const groups = pattern.groupNames.filter((group) => !isSeveral || group !== valueGroup);
  const rows = new Map<string, { label: string; texts: string[]; fields: (number | undefined)[] }>();
  const strangers: string[] = [];
  const doubles: [string, string][] = [];
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
    const other = row.fields[at];
    if (other !== undefined) doubles.push([columns[other] as string, column]);
    row.fields[at] = index;
    rows.set(key, row);
  }
  const kept = columns.map((column, index) => (matches[index] === undefined ? column : ''));
  return {
    names: [...kept, ...groups, ...(name === undefined ? [] : [name]), ...value],
    rows: [...rows.values()],
    strangers,
    doubles,
  };
}

/** The new columns of an unpivot, in their order. */
export function unpivotNames(unpivoted: Unpivot): readonly string[] {
  return unpivot(unpivoted, []).names;
}
