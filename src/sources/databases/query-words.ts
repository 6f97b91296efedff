/** What a query says outside of its brackets, texts and comments. */

const tokens =
  /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|`(?:[^`]|``)*`|--(?=\s|$).*|#.*|\/\*[^]*?\*\/|[\w$]+|[^\s]/g;
const comment = /^(?:--.|--$|#|\/\*)/s;

/** The words of a query outside of brackets, in lower case. */
export function outermostWords(query: string): ReadonlySet<string> {
  const words = new Set<string>();
  let depth = 0;
  for (const [token] of query.matchAll(tokens)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0) words.add(token.toLowerCase());
  }
  return words;
}

/** Without the `;` at its end and what is remarked after that: inside another query there can be none. */
export function withoutEnd(query: string): string {
  const last = [...query.matchAll(tokens)].findLast(([token]) => !comment.test(token));
  return last?.[0] === ';' ? query.slice(0, last.index) : query;
}
