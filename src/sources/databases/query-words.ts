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

/** The first word or mark of a query after its comments, in lower case. */
export function firstWord(query: string, syntax: Syntax): string {
  for (const [token] of query.matchAll(tokens[syntax])) if (!comments[syntax].test(token)) return token.toLowerCase();
  return '';
}

/** The words of a query outside of brackets, in lower case. */
export function outermostWords(query: string, syntax: Syntax): ReadonlySet<string> {
  const found = new Set<string>();
  let depth = 0;
  for (const [token] of query.matchAll(tokens[syntax])) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0) found.add(token.toLowerCase());
  }
  return found;
}

/** Without the `;` at its end and what is remarked after that: inside another query there can be none. */
export function withoutEnd(query: string, syntax: Syntax): string {
  const said = [...query.matchAll(tokens[syntax])].filter(([token]) => !comments[syntax].test(token));
  const end = said.findLastIndex(([token]) => token !== ';') + 1;
  return query.slice(0, said[end]?.index);
}
