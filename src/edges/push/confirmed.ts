/** The last bytes of a request, kept back until somebody has confirmed that it may be taken. */

/** So many are kept back: without them neither JSON nor gzip is whole. */
const lastBytes = 64;

/** @param confirm asked once all but the last bytes were handed over; where it throws they never are */
export async function* confirmed(
  source: AsyncIterable<Uint8Array>,
  confirm: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array = new Uint8Array();
  for await (const chunk of source) {
    if (chunk.length < lastBytes) kept = Buffer.concat([kept, chunk]);
    else {
      if (kept.length > 0) yield kept;
      kept = chunk;
    }
  }
  const end = Math.max(0, kept.length - lastBytes);
  if (end > 0) yield kept.subarray(0, end);
  await confirm();
  yield kept.subarray(end);
}
