/**
 * Limits on what one part may make the agent hold in memory. A few hundred bytes of an archive, or of a format that is
 * compressed in itself, can stand for gigabytes. A part beyond a limit is refused, and the message names the place.
 */

/** Bytes of a field's text in UTF-8. No amount, name or date of a business comes near it. */
export const fieldBytesMax = 10_000_000;

/** Bytes of a row, all fields together: each of many fields may be within its own limit. */
export const rowBytesMax = 64_000_000;

/** Fields of a row, and columns of a file: six times what a workbook may have. A row of them takes about 6 MB. */
export const rowFieldsMax = 100_000;

/** UTF-16 units of the texts of one batch. Rows of a binary format may share one text; whoever joins them does not. */
export const batchLengthMax = 4_000_000;

/** Levels of XML, JSON and of a Parquet file's structs. What is nested deeper holds no rows of a table. */
export const depthMax = 100;

export function isFieldTooLong(text: string): boolean {
  // A UTF-16 unit is at most three bytes, so that only long texts are counted.
  return text.length * 3 > fieldBytesMax && Buffer.byteLength(text) > fieldBytesMax;
}

/** `64 MB`, for messages */
export function megabytes(bytes: number): string {
  return `${bytes / 1_000_000} MB`;
}

/** `100 000`, for messages */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ' ');
}
