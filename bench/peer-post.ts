/** Posts as many bytes as a snapshot has, without making any: what no push can be faster than. */
import { post } from './post.ts';

const [bytes = '', url = ''] = process.argv.slice(2);
const chunk = Buffer.alloc(1 << 18, 'x');

function* chunks(): Generator<Uint8Array> {
  for (let left = Number(bytes); left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length));
}

await post(url, Number(bytes), chunks());
