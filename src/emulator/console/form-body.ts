/** Reads the body of a form. */
import { Refusal } from '../routing/refusal.ts';

/** Enough for a picker with ten thousand models. */
const bytesMax = 4 * 1024 * 1024;

/** @throws Refusal 413 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Refusal(413, { error: `the form is longer than ${bytesMax} bytes` });
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
