/** Guesses the columns of a text whose fields are aligned by blanks, as printed reports are. */
import { guessNumbers } from './numbers.ts';
import { modalWidth } from './widths.ts';

export interface Aligned {
  /** Each with the places that it takes in a line, counted from 0, the last one not among them. */
  readonly columns: readonly { readonly name: string; readonly start: number; readonly end: number }[];
  /** Lines above the first one of the data. */
  readonly skipped: number;
  /** The data and what stands below it, without blank lines. */
  readonly rows: readonly (readonly string[])[];
  /** Whether a line of strokes below the header says where columns are. */
  readonly hasRule: boolean;
}

/** A stretch of places. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Fewer lines of data or columns make no table. */
const linesMin = 3;
const columnsMin = 3;
/** A line of strokes, one stretch for each column. */
const rule = /^\s*[-=_]{2,}(\s+[-=_]{2,})+\s*$/;

/** `undefined` where the lines are no such table. @param pieces of the file, in order */
export function alignedTable(pieces: readonly string[]): Aligned | undefined {
  const lines = pieces.flatMap((piece) => piece.split(/\r\n?|\n/));
  const ruleAt = lines.findIndex((line) => rule.test(line));
  const spans = ruleAt >= 0 ? ruledSpans(lines[ruleAt] as string) : undefined;
  const isData = spans === undefined ? likeMost(lines) : (line: string): boolean => isWithin(line, spans);
  const from = lines.findIndex((line, at) => at > ruleAt && isData(line) && /\d/.test(line));
  if (from < 0) return undefined;
  const behind = lines.slice(from);
  const data = behind.filter(isData);
  const filled = behind.filter((line) => line.trim() !== '');
  if (data.length < linesMin || data.length * 2 < filled.length) return undefined;
  const found = spans ?? blankSpans(data);
  if (found === undefined || found.length < columnsMin) return undefined;
  const longest = Math.max(...filled.map(({ length }) => length));
  const places = widened(found, spans === undefined ? data : [], longest);
  const header = headerOf(lines.slice(0, ruleAt >= 0 ? ruleAt : from), places);
  const first = filled.findIndex((line) => line === behind[0]);
  return {
    columns: places.map((place, at) => ({ ...place, name: header?.[at] ?? `column${at + 1}` })),
    skipped: from,
    rows: filled.slice(first).map((line) => places.map(({ start, end }) => line.slice(start, end).trim())),
    hasRule: spans !== undefined,
  };
}

/** Lines of as many fields as most have, with two blanks between some of them and no mark that could be a delimiter: a comma stands within a number. */
function likeMost(lines: readonly string[]): (line: string) => boolean {
  const fieldsOf = (line: string): readonly string[] => {
    const isFree = /\S\s{2,}\S/.test(line) && !/[\t;|]/.test(line) && !/(^|\D),|,(\D|$)/.test(line);
    return isFree ? line.trim().split(/\s{2,}/) : [];
  };
  const width = modalWidth(lines.map(fieldsOf).filter(({ length }) => length > 0));
  return (line) => width > 0 && fieldsOf(line).length === width;
}

function ruledSpans(line: string): readonly Span[] {
  return [...line.matchAll(/[-=_]+/g)].map(({ index, 0: strokes }) => ({ start: index, end: index + strokes.length }));
}

/** Whether it has fields in these columns, and nothing between them but the sign of a number. */
function isWithin(line: string, spans: readonly Span[]): boolean {
  if (line.trim() === '' || line.includes('\t') || rule.test(line)) return false;
  return spans.every(({ start }) => start === 0 || /[\s)-]/.test(line[start - 1] ?? ' '));
}

/** What stands between places that are blank in every line. */
function blankSpans(lines: readonly string[]): readonly Span[] | undefined {
  const length = Math.max(...lines.map((line) => line.length));
  const spans: Span[] = [];
  let start: number | undefined;
  for (let place = 0; place <= length; place++) {
    const isBlank = lines.every((line) => (line[place] ?? ' ') === ' ');
    if (isBlank && start !== undefined) spans.push({ start, end: place });
    start = isBlank ? undefined : (start ?? place);
  }
  return spans.length === 0 ? undefined : spans;
}

/** With the blanks beside them, for values that are longer: a number grows to the left and takes a minus on its right, a text grows to the right. */
function widened(spans: readonly Span[], data: readonly string[], length: number): readonly Span[] {
  const starts = spans.map(({ start, end }, at) => {
    const before = spans[at - 1];
    if (before === undefined || data.length === 0) return at === 0 ? 0 : start;
    const texts = data.map((line) => line.slice(start, end));
    const isRight = guessNumbers(new Map(texts.map((text) => [text.trim(), 1])), undefined) !== undefined;
    return isRight ? Math.ceil((before.end + start) / 2) : start;
  });
  return spans.map((_span, at) => ({ start: starts[at] as number, end: starts[at + 1] ?? length }));
}

/** The names in the nearest line above, where each stands above its own column. */
function headerOf(above: readonly string[], places: readonly Span[]): readonly string[] | undefined {
  const line = above.findLast((one) => one.trim() !== '');
  if (line === undefined) return undefined;
  const isCut = places.some(
    ({ start }) => start > 0 && /\S/.test(line[start] ?? ' ') && /\S/.test(line[start - 1] ?? ' '),
  );
  const names = places.map(({ start, end }) => line.slice(start, end).trim());
  return isCut || names.includes('') || new Set(names).size < names.length ? undefined : names;
}
