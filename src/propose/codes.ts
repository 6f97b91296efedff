/** Which columns hold codes of what other columns name. */
import { type Counted, spaced, words } from './evidence.ts';
import type { Column, Table } from './profile.ts';

/** Of a few rows the columns stand for each other by chance: texts that look like codes speak for themselves from here on. */
const codesMin = 3;

/** Each code with the name that it has, where the two stand for each other. */
export function pairCodes(
  table: Table,
  columns: readonly Column[],
): { readonly keys: readonly Column[]; readonly codes: ReadonlyMap<Column, Column> } {
  const codes = new Map<Column, Column>();
  const gone = new Set<Column>();
  for (const code of columns) {
    if (!holdsCodes(code)) continue;
    const name = columns.find(
      (other) =>
        other !== code &&
        !codes.has(other) &&
        !holdsCodes(other) &&
        code.texts.size === other.texts.size &&
        ([code, other].every((one) => !words.quality.test(spaced(one.name))) || shareWord(code.name, other.name)) &&
        determines(table, code, other) &&
        determines(table, other, code),
    );
    if (name === undefined) continue;
    codes.set(name, code);
    gone.add(code);
  }
  return { keys: columns.filter((column) => !gone.has(column)), codes };
}

/** A column whose name or texts say so. Two columns that only happen to go together are both needed to tell rows apart. */
function holdsCodes({ name, texts }: Column): boolean {
  const said = spaced(name);
  const all = [...texts.keys()];
  if (all.length < 2 || words.name.test(said) || all.some((text) => /\s/.test(text))) return false;
  if (words.identifier.test(said)) return true;
  if (words.code.test(said)) return all.every((text) => /\d/.test(text) || !/\p{Ll}/u.test(text));
  return all.length >= codesMin && all.every((text) => /\d/.test(text)) && meanLength(texts) <= codeLengthMax;
}

/** Longer texts with digits are names. */
const codeLengthMax = 12;

function meanLength(texts: Counted): number {
  let length = 0;
  for (const text of texts.keys()) length += text.length;
  return length / texts.size;
}

/** Such as `country` and `country code`. */
function shareWord(one: string, other: string): boolean {
  const others = wordsOf(other);
  return wordsOf(one).some((word) => others.includes(word));
}

function wordsOf(name: string): readonly string[] {
  return spaced(name)
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 2 && !words.identifier.test(word) && !words.name.test(word));
}

/** Whether each text of one column comes with one text of the other. */
export function determines({ rows }: Table, one: Column, other: Column): boolean {
  const seen = new Map<string, string>();
  for (const row of rows) {
    const text = row[one.at] ?? '';
    const beside = row[other.at] ?? '';
    if ((seen.get(text) ?? beside) !== beside) return false;
    seen.set(text, beside);
  }
  return true;
}
