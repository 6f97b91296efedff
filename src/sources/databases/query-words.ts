/** The words of a query outside of its brackets, texts and comments. */

/**
 * `mysql`: a backslash escapes in texts, `#` begins a comment, and `--` does only before white space. `clickhouse`: a backslash
 * escapes in texts and names, and `#` begins a comment before a blank or `!`.
 */
export type Syntax = 'standard' | 'mysql' | 'clickhouse';

/** A name after a point is one token with it: `t.limit` limits nothing. */
const words = String.raw`/\*[^]*?\*/|\.\s*[\w$]+|[\w$]+|[^\s]`;
const tokens: Readonly<Record<Syntax, RegExp>> = {
  // PostgreSQL has texts such as E'it\'s' and $$it's$$ besides.
  standard: new RegExp(
    String.raw`\b[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[^]*?\1|--.*|${words}`,
    'g',
  ),
  mysql: new RegExp(
    String.raw`'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|${'`(?:[^`]|``)*`'}|--(?=\s|$).*|#.*|${words}`,
    'g',
  ),
  clickhouse: new RegExp(
    String.raw`'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|${'`(?:[^`\\\\]|\\\\[^]|``)*`'}|(\$\w*\$)[^]*?\1|--.*|#[ !].*|${words}`,
    'g',
  ),
};
const comments: Readonly<Record<Syntax, RegExp>> = {
  standard: /^(?:--|\/\*)/,
  mysql: /^(?:--.|--$|#|\/\*)/s,
  clickhouse: /^(?:--|#[ !]|\/\*)/,
};

export interface Token {
  readonly text: string;
  /** Where it begins in the query. */
  readonly at: number;
  /** How many brackets are open before it; those of a closing one are its own. */
  readonly depth: number;
}

/** The words and marks of a query, without comments. */
export function tokensOf(query: string, syntax: Syntax): readonly Token[] {
  const found: Token[] = [];
  let depth = 0;
  for (const { 0: text, index } of query.matchAll(tokens[syntax])) {
    if (comments[syntax].test(text)) continue;
    found.push({ text, at: index, depth });
    if (/^[([]$/.test(text)) depth++;
    else if (/^[)\]]$/.test(text)) depth--;
  }
  return found;
}

/** The first word or mark of a query after its comments, in lower case. */
export function firstWord(query: string, syntax: Syntax): string {
  return tokensOf(query, syntax)[0]?.text.toLowerCase() ?? '';
}

/**
 * The words of a query outside of brackets, in lower case. Where a query in brackets is all of it (behind WITH, before LIMIT), its
 * words are among them: it is that query which orders the rows.
 */
export function outermostWords(query: string, syntax: Syntax): ReadonlySet<string> {
  return new Set(wordsAt(tokensOf(query, syntax), 0));
}

const combining = ['union', 'except', 'intersect', 'minus'];

/** @param said from the beginning of a query on, whose words are those of this depth */
function wordsAt(said: readonly Token[], depth: number): readonly string[] {
  const outer = said.flatMap((token) => (token.depth === depth ? [token.text.toLowerCase()] : []));
  const open = bracketAt(said, depth);
  if (open === undefined || outer.includes('order') || combining.some((word) => outer.includes(word))) return outer;
  return [...outer, ...wordsAt(bracketed(said, open), depth + 1)];
}

/** What stands in the brackets that open there, with the closing one. */
export function bracketed(said: readonly Token[], open: number): readonly Token[] {
  const depth = said[open]?.depth ?? 0;
  const end = said.findIndex((token, at) => at > open && token.depth <= depth);
  return said.slice(open + 1, end < 0 ? undefined : end);
}

/** Where the brackets begin that a query stands in. */
function bracketAt(said: readonly Token[], depth: number): number | undefined {
  const isWith = /^with$/i.test(said[0]?.text ?? '');
  // Behind WITH it follows the brackets of what that names: no others do before SELECT.
  const at = isWith
    ? said.findIndex(
        (token, index) =>
          token.depth === depth &&
          (/^(?:select|values|table)$/i.test(token.text) || (token.text === '(' && said[index - 1]?.text === ')')),
      )
    : 0;
  return said[at]?.text === '(' ? at : undefined;
}

/** Without the `;` at its end and what is remarked after that: inside another query there can be none. */
export function withoutEnd(query: string, syntax: Syntax): string {
  const said = tokensOf(query, syntax);
  const end = said.findLastIndex(({ text }) => text !== ';') + 1;
  return query.slice(0, said[end]?.at);
}
