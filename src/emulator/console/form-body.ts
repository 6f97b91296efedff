/** Reads the body of a form. */
import { JsonProblem, parseOnce } from '../json-once.ts';
import { invalidAt, Refusal } from '../routing/refusal.ts';

/** Enough for a picker with ten thousand models. */
const formBytesMax = 4 * 1024 * 1024;

/** @throws Refusal 413 */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams((await readBytes(request, formBytesMax)).toString('utf8'));
}

/**
 * Reads a form that may have files in it.
 * @throws Refusal 413; 400 where it is no form
 */
export async function readUpload(request: Request, bytesMax: number): Promise<FormData> {
  const body = await readBytes(request, bytesMax);
  const headers = { 'content-type': request.headers.get('content-type') ?? '' };
  try {
    return await new Response(new Uint8Array(body), { headers }).formData();
  } catch (cause) {
    throw new Refusal(400, { error: `this is no form: ${(cause as Error).message}` });
  }
}

/** The JSON in a field. @throws Refusal 400 */
export function parseJson(text: string, field: string): unknown {
  try {
    return parseOnce(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw invalidAt([field], `is ${error.message}`);
  }
}

async function readBytes(request: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Refusal(413, { error: `the form is longer than ${bytesMax} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
