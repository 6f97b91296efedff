/** A column that says on which side of an account a number stands: the only minus that many ledgers have. */
import { type Counted, words } from './evidence.ts';
import { isMissingWord } from './numbers.ts';
import { type Column, type Table, shownName } from './profile.ts';
import { type Line, flow } from './lines.ts';
import type { Left } from './roles.ts';

interface Sign {
  readonly column: Column;
  /** The text of each side; the first is taken for positive. */
  readonly sides: readonly [string, string];
}

/** Debit and credit as programs write them, or the sign itself. */
const pairs: readonly (readonly [string, string])[] = [
  ['+', '-'],
  ['1', '-1'],
  ['S', 'H'],
  ['Soll', 'Haben'],
  ['D', 'C'],
  ['D', 'K'],
  ['DR', 'CR'],
  ['DB', 'CR'],
  ['Debit', 'Credit'],
  ['D\u00e9bit', 'Cr\u00e9dit'],
  ['Debe', 'Haber'],
  ['Dare', 'Avere'],
];

/** What a column of sides makes of the values beside it. */
export interface Signed {
  /** Columns that are no names any more. */
  readonly columns: readonly Column[];
  readonly values: readonly Column[];
  readonly lines: readonly Line[];
  /** The template of a value. */
  readonly from: (column: string) => string;
  /** Texts without a number, with the signs that stand before them. */
  readonly missing: readonly string[];
  readonly left: readonly Left[];
  readonly doubts: readonly string[];
}

/** @param taken columns that are something else @param valuesBeside the columns of values among those that are left */
export function signOf(
  table: Table,
  taken: ReadonlySet<Column>,
  valuesBeside: (taken: ReadonlySet<Column>) => readonly Column[],
): Signed {
  const from = (column: string): string => `{${column}}`;
  const bare = { lines: [], from, missing: [], left: [] };
  const sign = findSign(table, taken);
  if (sign === undefined) return { ...bare, columns: [], values: valuesBeside(taken), doubts: [] };
  const values = valuesBeside(new Set([...taken, sign.column]));
  const own = ownSigns(table, sign, values);
  const base = { columns: [sign.column], values, doubts: doubtsOf(sign, own) };
  if (own === 'none') {
    return {
      ...base,
      lines: [signLine(sign)],
      from: (column) => (words.ratio.test(column) ? from(column) : signedFrom(sign, column)),
      missing: [...new Set(values.flatMap(({ texts, empty }) => signedMissing(texts, empty)))],
      left: [],
    };
  }
  const why = own === 'the same' ? 'the numbers have its sign already' : 'the numbers have signs of their own';
  return { ...bare, ...base, left: [{ name: sign.column.name, why }] };
}

/** Debits in one column and credits in another: each is a driver of its own, where mostly their balance is wanted. */
export function doubtsOfSides({ rows }: Table, values: readonly Column[]): readonly string[] {
  const named = (side: RegExp): Column | undefined => values.find(({ name }) => side.test(name));
  const [debit, credit] = [
    named(/^(debits?|soll|d[\u00e9e]bit|debe|dare|dr)\b/iu),
    named(/^(credits?|haben|cr[\u00e9e]dit|haber|avere|cr)\b/iu),
  ];
  if (debit === undefined || credit === undefined) return [];
  const isAmount = (text = ''): boolean => /[1-9]/.test(text);
  if (rows.some((row) => isAmount(row[debit.at]) && isAmount(row[credit.at]))) return [];
  return [
    `whether ${shownName(debit)} and ${shownName(credit)} are to be one balance: no row has both; for that give both entries one id and path, collapse: sum, and negate: true in the value of one`,
  ];
}

function findSign({ columns }: Table, taken: ReadonlySet<Column>): Sign | undefined {
  for (const column of columns) {
    const sides = column.ref === undefined || taken.has(column) ? undefined : sidesOf(column);
    if (sides !== undefined) return { column, sides };
  }
  return undefined;
}

function sidesOf({ name, texts }: Column): Sign['sides'] | undefined {
  const all = [...texts.keys()];
  if (all.length === 0 || all.length > 2) return undefined;
  const isNamed = words.sign.test(name);
  for (const pair of pairs) {
    const found = pair.map((side) => all.find((text) => text.toLowerCase() === side.toLowerCase()));
    const known = found.filter((text) => text !== undefined).length;
    if (known < all.length || ((known < 2 || pair[0] === '1') && !isNamed)) continue;
    const isUpper = all.every((text) => text === text.toUpperCase());
    const [positive, negative] = pair.map((side, at) => found[at] ?? (isUpper ? side.toUpperCase() : side));
    return [positive ?? '', negative ?? ''];
  }
  return undefined;
}

/** What its rows say of the minus signs that the numbers have themselves. */
type OwnSigns = 'none' | 'the same' | 'others';

function ownSigns({ rows }: Table, { column, sides }: Sign, values: readonly Column[]): OwnSigns {
  const minus = sides.map((side) => {
    const texts = rows.filter((row) => row[column.at] === side).flatMap((row) => values.map(({ at }) => row[at] ?? ''));
    const counted = texts.filter((text) => /[1-9]/.test(text));
    return { all: counted.length, minus: counted.filter((text) => /^\W*[-\u2212(]|[-\u2212)]\W*$/.test(text)).length };
  });
  if (minus.every((side) => side.minus === 0)) return 'none';
  const isTold = minus.some(({ minus: count }) => count === 0) && minus.some((side) => side.minus === side.all);
  return isTold ? 'the same' : 'others';
}

/** The text of a signed value. A side that the map does not know makes it a reject: it may be either. */
function signedFrom({ column: { ref, empty } }: Sign, value: string): string {
  return empty > 0 ? `{${ref}|map:sign}{${value}}` : `{${ref}|map:sign|default:?}{${value}}`;
}

function signLine({ column, sides: [positive, negative] }: Sign): Line {
  return {
    key: 'maps',
    value: flow({ sign: { [positive]: '+', [negative]: '-' } }),
    beside: `${shownName(column)} says which numbers are negative: they have no minus of their own`,
  };
}

/** Texts of a value without a number: its sign stands before them, too. */
function signedMissing(texts: Counted, empty: number): readonly string[] {
  const bare = [...(empty > 0 ? [''] : []), ...[...texts.keys()].filter((text) => isMissingWord(text))];
  return bare.flatMap((text) => [`+${text}`, `-${text}`]);
}

function doubtsOf({ column, sides: [positive, negative] }: Sign, own: OwnSigns): readonly string[] {
  const shown = shownName(column);
  if (own === 'others') {
    return [
      `whether ${shown} turns numbers round: some have a minus of their own, on either side; it is left out, so that they count as they are written`,
    ];
  }
  if (own === 'the same' || positive === '+' || positive === '1') return [];
  const empty = column.empty > 0 ? '; where it is empty, the number is taken as it is' : '';
  return [
    `which side is negative: ${shown} ${JSON.stringify(negative)} as written here, so that costs are positive and revenue is negative; exchange + and - in maps where it is the other way round${empty}`,
  ];
}
