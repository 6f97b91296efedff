/**
 * A plain SELECT taken apart, so that it is collapsed in one step where its table is: a cluster groups such rows on its own servers,
 * and hands over every row of a query that stands inside another.
 */
import { type Token, tokensOf } from './query-words.ts';

export interface PlainSelect {
  /** What it selects, without names. */
  readonly items: readonly string[];
  /** What follows FROM, up to WHERE. */
  readonly from: string;
  /** The condition of WHERE. */
  readonly where: string | undefined;
}

/** Words of a query that does not give one row for each of its tables' rows, or gives them an order. */
const otherWords = new Set(
  'array distinct except fetch format from group having intersect into limit offset order qualify sample select settings union window with'.split(
    ' ',
  ),
);

/** Casts, and what is made of one row alone: the same wherever it is computed. */
const functions =
  /^(?:cast|to\w+|coalesce|ifnull|nullif|if|upper|lower|trim\w*|concat|substring|replace\w*|abs|negate|round)$/i;

const operators = /^(?:as|and|or|not)$/i;

/** `undefined` for any other query, and for one that this cannot tell. */
export function plainSelect(query: string): PlainSelect | undefined {
  const [first, ...tokens] = tokensOf(query, 'clickhouse');
  const fromAt = tokens.findIndex((token) => isOutermost(token, 'from'));
  if (first?.text.toLowerCase() !== 'select' || fromAt === -1) return undefined;
  const rest = tokens.slice(fromAt + 1);
  const whereAt = rest.findIndex((token) => isOutermost(token, 'where'));
  const [from, where] = whereAt === -1 ? [rest, undefined] : [rest.slice(0, whereAt), rest.slice(whereAt + 1)];
  const items = splitByComma(tokens.slice(0, fromAt)).map(parseItem);
  const known = items.filter((item) => item !== undefined);
  if (known.length < items.length) return undefined;
  if (rest.some(({ text, depth }) => depth === 0 && (text === ';' || otherWords.has(text.toLowerCase()))))
    return undefined;
  if (known.some(({ name }) => name !== undefined && isUsed(name, known, rest))) return undefined;
  return {
    items: known.map(({ tokens: own }) => `(${sliceOf(query, own)})`),
    from: sliceOf(query, from),
    where: where && sliceOf(query, where),
  };
}

interface Item {
  readonly tokens: readonly Token[];
  /** What the query calls it, where it says so. */
  readonly name: string | undefined;
}

function parseItem(tokens: readonly Token[]): Item | undefined {
  const isNamed = tokens.length > 2 && tokens.at(-2)?.text.toLowerCase() === 'as';
  const own = isNamed ? tokens.slice(0, -2) : tokens;
  const isPlain = own.every(({ text }, at) => {
    const [before, after] = [own[at - 1]?.text ?? '', own[at + 1]?.text ?? ''];
    // All columns, unless something is multiplied.
    if (text === '*') return /[\w)`"]$/.test(before) && /^[-\w(`"]/.test(after);
    if (text === '>' && before === '-') return false;
    if (!isWord(text)) return true;
    // A word behind a value is its name, or a keyword that this does not know.
    if (isValue(before) && !operators.test(before) && !operators.test(text)) return false;
    return !otherWords.has(text.toLowerCase()) && (after !== '(' || functions.test(text));
  });
  return isPlain && own.length > 0
    ? { tokens: own, name: isNamed ? nameOf(tokens.at(-1) as Token) : undefined }
    : undefined;
}

/** Whether a name that the query gives stands anywhere but in what it is the name of: there it may mean the one or the other. */
function isUsed(name: string, items: readonly Item[], rest: readonly Token[]): boolean {
  const others = items.flatMap((item) => (item.name === name ? [] : item.tokens));
  const twice = items.filter((item) => item.name === name).length > 1;
  return twice || [...others, ...rest].some((token) => nameOf(token) === name);
}

/** Without its quotes, and the point of a name that has a table before it. */
function nameOf({ text }: Token): string {
  return text.replace(/^\.\s*/, '').replaceAll(/^[`"]|[`"]$/g, '');
}

function isValue(text: string): boolean {
  return /[\w)\]'`"]$/.test(text);
}

function isWord(text: string): boolean {
  return /^[a-z_]/i.test(text);
}

function isOutermost({ text, depth }: Token, word: string): boolean {
  return depth === 0 && text.toLowerCase() === word;
}

function splitByComma(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.depth === 0 && token.text === ',') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function sliceOf(query: string, tokens: readonly Token[]): string {
  const last = tokens.at(-1);
  return query.slice(tokens[0]?.at, last === undefined ? undefined : last.at + last.text.length);
}
