/** What an answer says beside its data. */

const waitMaxMs = 366 * 86_400_000;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How long `Retry-After` asks to wait, in ms. A date is compared with the answer's own `Date`, so that a wrong clock here does no harm. */
export function parseRetryAfter(headers: Headers, now: Date): number | undefined {
  const text = String(headers['retry-after'] ?? '').trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseDate(text) - (parseDate(headers['date']) || now.getTime());
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), waitMaxMs);
}

/** HTTP knows three forms of a date, and that of asctime has no zone. */
function parseDate(text: unknown): number {
  return typeof text === 'string' && /^[a-z]{3,9},? /i.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;
}

/** Whether a Content-Type announces a web page. */
export function isPageType(contentType: string | undefined): boolean {
  return /^(text\/html|application\/xhtml\+xml)\b/i.test(contentType?.trim() ?? '');
}

/** What a page may begin with: a tag of its own, or of what stands in its head or its body where the rest is left out. */
const pageTags =
  'html|head|title|meta|link|base|script|style|noscript|body|header|main|div|p|h[1-6]|center|table|form|iframe|img|a|b|br|hr|pre|span|font';
const pageStart = new RegExp(String.raw`^<(?:!doctype\s+html|${pageTags})(?=[\s/>]|$)`, 'i');

/** Whether a text begins as a web page does, whatever it was announced as. */
export function isPageText(text: string): boolean {
  // Comments and declarations of XML may stand before it; one that does not end here is taken for a page's.
  const rest = text.replace(/^\uFEFF?\s*(?:(?:<!--[^]*?(?:-->|$)|<\?xml\b[^]*?\?>)\s*)*/i, '');
  return pageStart.test(rest) || (rest === '' && text.includes('<!--'));
}

export interface BodyStart {
  readonly text: string;
  readonly bytes: number;
  /** What cut the body short; `undefined` where it did not end too early. */
  readonly cut: unknown;
}

/** Reads a body up to a little more than `bytesMax`; leaving it ends its connection. */
export async function readStart(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<BodyStart> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let cut: unknown;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > bytesMax) break;
    }
  } catch (error) {
    // What came before it may be enough: that is for the reader to say.
    cut = error;
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks).subarray(0, bytesMax)), bytes, cut };
}
