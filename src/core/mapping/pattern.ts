/** Regular expressions of the config: they match by code points, and escapes that mean nothing are refused. */

/** `flags` beside `u`. A text says why it is none, in JavaScript's own words. */
export function parsePattern(source: string, flags = ''): RegExp | string {
  try {
    return new RegExp(source, `u${flags}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message.replace(/^Invalid regular expression: .*\/\w*: /s, '').toLowerCase();
  }
}
