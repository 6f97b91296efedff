/**
 * Exchanges with a service, kept in a file without secrets: one JSON object in each line. Credentials are not written at all;
 * in addresses and bodies, values whose name says that they are secret become `***`.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { maskBody, maskBytes, maskParameters } from '../secrets.ts';
import type { Spool } from './spool.ts';

/**
 * Bytes up to which a body is recorded, if nothing else is said; a longer one is known by its digest. One exchange at a time
 * is made into text, which takes several times as much memory.
 */
export const recordedBytesMax = 4 * 1024 * 1024;

const bodySchema = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
  /** One that was too long to be recorded, or could not be decoded. */
  z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().positive() }),
]);
export type TapeBody = z.infer<typeof bodySchema>;

export const exchangeSchema = z.strictObject({
  method: z.string(),
  /** With its query. */
  path: z.string().startsWith('/'),
  /** Of the request; null if it is empty. */
  body: bodySchema.nullable(),
  answer: z.strictObject({
    status: z.int().min(100).max(599),
    headers: z.record(z.string(), z.string()),
    body: bodySchema.nullable(),
  }),
});
export type TapedExchange = z.infer<typeof exchangeSchema>;

export function tapedPath(url: URL): string {
  return maskParameters(url.pathname + url.search);
}

/** @param bytesMax a longer body is known by its digest alone. */
async function tapedBody(spool: Spool, bytesMax: number): Promise<TapeBody | null> {
  const { bytes, sha256 } = spool;
  if (bytes === 0) return null;
  if (bytes > bytesMax) return { sha256, bytes };
  const { buffer } = await spool.whole();
  const whole = Buffer.from(buffer);
  return isUtf8(whole) ? { text: maskBody(whole.toString('utf8')) } : { base64: maskBytes(whole).toString('base64') };
}

/** @param plain what it says without its compression; of what cannot be decoded nobody knows which secrets it holds. */
export async function tapedPlain(sent: Spool, plain: Spool | undefined, bytesMax: number): Promise<TapeBody | null> {
  return tapedBody(plain ?? sent, plain === undefined ? 0 : bytesMax);
}

/** Undefined for a body that was not recorded. */
export function bytesOf(body: TapeBody | null): Uint8Array<ArrayBuffer> | undefined {
  if (body === null) return new Uint8Array();
  if ('sha256' in body) return undefined;
  return Uint8Array.from('text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64'));
}

/** What two equal requests have in common: the order of the members of JSON does not matter. */
export function keyOf(method: string, path: string, body: TapeBody | null): string {
  return `${method} ${path} ${body === null ? '' : contentOf(body)}`;
}

function contentOf(body: TapeBody): string {
  if ('text' in body) return canonical(body.text);
  return 'base64' in body ? body.base64 : body.sha256;
}

function canonical(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, sorted));
  } catch {
    return text;
  }
}

/** A number is compared as it is written: it may have more digits than JavaScript's. */
function sorted(_key: string, value: unknown, context?: { readonly source?: string | undefined }): unknown {
  const source = context?.source;
  if (typeof value === 'number' && source !== undefined && String(value) !== source) return { number: source };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([first], [second]) => (first < second ? -1 : 1)));
}
