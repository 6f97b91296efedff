/** Finds the header of a table among its first rows. */
import { guessNumbers, isMissingWord } from './numbers.ts';
import { modalWidth } from './widths.ts';
import { guessTimes, monthNamesLocale } from './times.ts';

export interface Header {
  /** The row where it begins; where there is none, the first row of the data. */
  readonly at: number;
  /** How many rows it has; 0 where there is none. */
  readonly rows: number;
  /** Trimmed; made up where there is no header. */
  readonly columns: readonly string[];
  readonly notes: readonly string[];
}

type Rows = readonly (readonly string[])[];

/** How many rows may stand above a header, and how many below are looked at to know what the columns hold. */
const aboveMax = 60;
const lookedAt = 400;

export function findHeader(rows: Rows): Header {
  const width = modalWidth(rows);
  const at = rows.findIndex((row, index) => index < aboveMax && isCandidate(row, width));
  const start = at < 0 ? 0 : at;
  const first = rows[start] ?? [];
  const below = rows.slice(start + 1, start + 1 + lookedAt).filter((row) => row.length === width);
  if (isData(first, below)) return { at: start, rows: 0, columns: madeUp(first, below), notes: [] };
  return joined(rows, start, width);
}

/** Rows above a table have few cells, also where a spreadsheet fills them up with delimiters. */
function isCandidate(row: readonly string[], width: number): boolean {
  const filled = row.filter((cell) => cell !== '').length;
  return row.length === width && filled >= Math.min(2, width) && filled * 2 >= width;
}

/** Whether its cells are of the kind that stands below them. */
function isData(row: readonly string[], below: Rows): boolean {
  let likeData = 0;
  let likeHeader = 0;
  const isCounting = row
    .filter((cell) => /^\d{1,2}$/.test(cell))
    .map(Number)
    .every((cell, at) => cell === at + 1);
  for (const [at, cell] of row.entries()) {
    if (cell === '') continue;
    const texts = below.flatMap((other) => (other[at] === '' ? [] : (other[at] ?? [])));
    const kind = kindOf(texts);
    if (kind === 'text' || isMissingWord(cell)) continue;
    // Headers of a wide table may be years or the numbers of months, and stand above numbers.
    const isPeriod = isYear(cell) ? !texts.every(isYear) : isCounting && /^\d{1,2}$/.test(cell) && row.length > 3;
    if (kindOf([cell]) === kind && !isPeriod) likeData++;
    else likeHeader++;
  }
  return likeData > 0 && likeHeader === 0;
}

function isYear(text: string): boolean {
  return /^(19|20)\d{2}$/.test(text);
}

type CellKind = 'number' | 'time' | 'text';

function kindOf(texts: readonly string[]): CellKind {
  const counted = new Map<string, number>();
  for (const text of texts) counted.set(text, (counted.get(text) ?? 0) + 1);
  if (counted.size === 0) return 'text';
  if (guessTimes(counted, '') !== undefined) return 'time';
  return guessNumbers(counted, undefined) === undefined ? 'text' : 'number';
}

/** Names for columns without any. */
function madeUp(first: readonly string[], below: Rows): readonly string[] {
  const seen = new Map<string, number>();
  return first.map((_cell, at) => {
    const kind = kindOf([first[at] ?? '', ...below.map((row) => row[at] ?? '')].filter((cell) => cell !== ''));
    const base = kind === 'time' ? 'date' : kind === 'number' ? 'value' : 'name';
    const number = (seen.get(base) ?? 0) + 1;
    seen.set(base, number);
    return number === 1 ? base : `${base}${number}`;
  });
}

/** One row, or several where one alone names columns twice. */
function joined(rows: Rows, at: number, width: number): Header {
  const lone = rows[at] ?? [];
  if (!hasTwice(lone) && !isUpper(rows, at)) return { at, rows: 1, columns: lone, notes: [] };
  for (const from of isUpper(rows, at) ? [at] : [at - 1]) {
    const upper = rows[from];
    const lower = rows[from + 1];
    if (upper === undefined || lower === undefined || upper.length !== width || lower.length !== width) continue;
    const columns = joinedNames(upper, lower);
    if (!hasTwice(columns)) return { at: from, rows: 2, columns, notes: [] };
  }
  const twice = lone.find((name, index) => name !== '' && lone.indexOf(name) !== index) ?? '';
  const notes = [`two columns are called ${JSON.stringify(twice)}: columns need names of their own`];
  return { at: at + 1, rows: 0, columns: numbered(lone), notes: hasTwice(lone) ? notes : [] };
}

/** Whether the row below is of the header too: it has words where numbers stand below it. */
function isUpper(rows: Rows, at: number): boolean {
  const lower = rows[at + 1] ?? [];
  const below = rows.slice(at + 2, at + 2 + lookedAt);
  const upper = rows[at] ?? [];
  if (below.length === 0 || !hasTwice(filledRight(upper))) return false;
  const judged = lower.flatMap((cell, index) => {
    if (cell === '' || isMissingWord(cell)) return [];
    const kind = kindOf(below.flatMap((row) => (row[index] === '' ? [] : (row[index] ?? []))));
    return kind === 'number' ? [kindOf([cell]) !== 'number' || monthNamesLocale([cell]) !== undefined] : [];
  });
  return judged.length > 0 && judged.every(Boolean);
}

/** As the reader joins them: a merged cell names all columns up to the next. */
function joinedNames(upper: readonly string[], lower: readonly string[]): readonly string[] {
  const spread = filledRight(upper);
  return lower.map((name, at) => [spread[at] ?? '', name].filter((text) => text !== '').join(' '));
}

function filledRight(row: readonly string[]): readonly string[] {
  let group = '';
  return row.map((cell) => (group = cell === '' ? group : cell));
}

function hasTwice(names: readonly string[]): boolean {
  const named = names.filter((name) => name !== '');
  return new Set(named).size < named.length;
}

/** Each name once: the second `Amount` becomes `Amount 2`. */
function numbered(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    if (name === '') return name;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return number === 1 ? name : `${name} ${number}`;
  });
}
