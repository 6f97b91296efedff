/**
 * Exchanges with a service, kept in a file without secrets: one JSON object in each line. Credentials are not written at all;
 * in addresses and bodies, values whose name says that they are secret become `***`.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { maskBody } from '../kept-body.ts';
import { maskParameters } from '../secrets.ts';

const bodySchema = z.strictObject({ text: z.string() }).or(z.strictObject({ base64: z.string() }));
type TapeBody = z.infer<typeof bodySchema>;

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

/** Headers of an answer that mean something to clients, and hold no secret. */
const keptHeaders = [
  'content-type',
  'location',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-request-id',
  'allow',
  'cache-control',
];

export function tapedHeaders(headers: Headers): Record<string, string> {
  const kept = keptHeaders.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, maskParameters(value)] as const];
  });
  return Object.fromEntries(kept);
}

export function tapedPath(url: URL): string {
  return maskParameters(url.pathname + url.search);
}

export function tapedBody(bytes: Uint8Array): TapeBody | null {
  if (bytes.length === 0) return null;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isUtf8(buffer) ? { text: maskBody(buffer.toString('utf8')) } : { base64: buffer.toString('base64') };
}

export function bytesOf(body: TapeBody | null): Uint8Array<ArrayBuffer> {
  if (body === null) return new Uint8Array();
  return Uint8Array.from('text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64'));
}

/** What two equal requests have in common: the order of the members of JSON does not matter. */
export function keyOf(method: string, path: string, body: TapeBody | null): string {
  return `${method} ${path} ${body === null ? '' : 'text' in body ? canonical(body.text) : body.base64}`;
}

function canonical(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, sorted));
  } catch {
    return text;
  }
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([first], [second]) => (first < second ? -1 : 1)));
}
