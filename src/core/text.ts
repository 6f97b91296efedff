/** White space in texts from data, and how such texts and counts are shown to a person. */

const shownMax = 40;

/** Any Unicode white space. `String.prototype.trim` leaves U+0085, which mainframe exports end their fields with. */
export function isWhiteSpace(code: number): boolean {
  if (code < 0x85) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  return (
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0x1680 ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0xfeff
  );
}

/** `text` without white space of any kind around it. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** Whether all fields of a row are empty or white space. */
export function isBlankRow(fields: readonly string[]): boolean {
  return fields.every((field) => trimWhiteSpace(field) === '');
}

/**
 * Text on one line: line breaks, tabs, escape sequences and marks that turn the direction of text are shown as escapes.
 * A name from data can then neither forge a line nor hide one from whoever reads a terminal.
 */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped);
}

/** The same for JSON text: escapes what `JSON.stringify` leaves and a terminal may obey. The data stays the same. */
export function visibleJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped);
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** `text` in quotes on one line, for the reason of a reject: control characters escaped, cut at 40 characters. */
export function quote(text: string): string {
  if (text.length <= shownMax) return JSON.stringify(text);
  // Half a surrogate pair would be shown as an escape.
  const last = text.charCodeAt(shownMax - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? shownMax - 1 : shownMax;
  return `${JSON.stringify(text.slice(0, end)).slice(0, -1)}…"`;
}

/** `1 driver`, `2 drivers`. */
export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** An argument as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** What a shell would replace in a path and the agent does not; `undefined` where there is nothing. It quotes no part of the path. */
export function shellPathProblem(path: string): { readonly message: string; readonly hint: string } | undefined {
  if (/^~[\w.-]*([/\\]|$)/.test(path))
    return {
      message: '"~" stands for no home directory here',
      hint: 'write the whole path, or ${HOME} in place of "~"',
    };
  if (/^\$\w+([/\\]|$)/.test(path))
    return { message: 'a path that begins with "$"', hint: 'write a variable as ${NAME}' };
  return undefined;
}
