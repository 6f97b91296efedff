/** How long the texts of any source may be: what is longer fills the memory and is no part of a table. */

/** Longest field, in bytes of its UTF-8. */
export const fieldBytesMax = 10_000_000;

/** Longest row, all fields together: each of many fields may be within its own limit. */
export const rowBytesMax = 64_000_000;

export function isFieldTooLong(text: string): boolean {
  // A unit of UTF-16 is at most three bytes.
  return text.length * 3 > fieldBytesMax && Buffer.byteLength(text) > fieldBytesMax;
}
