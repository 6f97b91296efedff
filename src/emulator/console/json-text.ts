/** JSON laid out for reading. Its texts and numbers stay as they were sent: no number is read. */

const tokens = /"(?:[^"\\]|\\.)*"?|[[\]{},:]|[^\s[\]{},:"]+/g;

/** Deeper levels begin where this one does: with a space for each level 16 KiB of brackets would be 256 MB of page. */
const indentedMax = 32;

/** Also of JSON that was cut. What is no JSON comes back as it is. */
export function layOut(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let depth = 0;
  let laid = '';
  let before = '';
  for (const [token] of text.matchAll(tokens)) {
    const isClosing = token === '}' || token === ']';
    if (isClosing) depth = Math.max(0, depth - 1);
    const isEmpty = isClosing && (before === '{' || before === '[');
    const breaks = before === '{' || before === '[' || before === ',' || isClosing;
    laid += (breaks && !isEmpty ? `\n${'  '.repeat(Math.min(depth, indentedMax))}` : before === ':' ? ' ' : '') + token;
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return laid;
}
