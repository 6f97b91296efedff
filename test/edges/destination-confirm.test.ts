/** A push that is confirmed before its last bytes: without the word of somebody, nobody can take it. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setTimeout as nap } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/core/errors.ts';
import type { PushResult } from '../../src/core/ports.ts';
import { confirmed } from '../../src/edges/push/confirmed.ts';
import {
  keeping,
  large,
  never,
  openDestination,
  rawReceiver,
  small,
  snapshotOf,
} from '../support/destination-world.ts';

const led = new AgentError('ledger.led', 'another agent leads');

describe.each(['none', 'gzip'] as const)('a push that is confirmed (compress: %s)', (compress) => {
  test.each([
    ['small', small],
    ['large', large],
  ])('is sent whole once it was confirmed (%s)', async (_size, body) => {
    const { url, received } = await keeping();
    const destination = openDestination(url, { compress });
    let asked = 0;
    const confirm = async (): Promise<void> => {
      asked++;
      // Nothing whole has come before.
      await nap(20);
      expect(received).toHaveLength(0);
    };
    expect(await destination.push(body, never, confirm)).toMatchObject({ outcome: 'acknowledged' });
    expect(asked).toBe(1);
    const { bytes } = received[0]!;
    const expected = await buffer(body.chunks());
    expect((compress === 'gzip' ? gunzipSync(bytes) : bytes).equals(expected)).toBe(true);
  });

  test('is broken off where it is not, with bytes that are no whole request', async () => {
    const came: Buffer[] = [];
    const closed = Promise.withResolvers<void>();
    const url = await rawReceiver((socket) => {
      socket.on('data', (bytes) => came.push(bytes));
      void once(socket, 'close').then(() => closed.resolve());
    });
    const result = await openDestination(url, { compress }).push(large, never, () => Promise.reject(led));
    expect(result).toMatchObject({ outcome: 'unreachable', maybeTaken: false });
    expect(result.detail).toContain('another agent leads');
    await closed.promise;
    const text = Buffer.concat(came).toString('latin1');
    const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
    // Everything but the last bytes was on its way already.
    const sizes = { none: large.bytes - 64, gzip: body.length };
    expect(body.length).toBe(sizes[compress]);
    expect(wholeJson(compress === 'gzip' ? () => gunzipSync(body) : () => body)).toBe(false);
  });
});

test.each([
  ['straight', {}],
  ['past a proxy', { http_proxy: 'http://127.0.0.1:1', no_proxy: '*' }],
] as const)(
  'a receiver that stops reading before the last bytes is given up after the timeout, wherever it stops (%s)',
  async (_way, env) => {
    const url = await rawReceiver(() => {}, { pauseOnConnect: true });
    await using destination = openDestination(url, { env, timeoutMs: 500 });
    // Ends what would go on for ever.
    const signal = AbortSignal.timeout(20_000);
    let asked = 0;
    const pushBytes = (length: number): Promise<PushResult> =>
      destination.push(snapshotOf(Buffer.alloc(length)), signal, async () => void asked++);
    // So much is taken by the buffers of a connection that nobody reads, and by this process.
    const [, taken] = /(\d+) bytes were sent/.exec((await pushBytes(large.bytes)).detail!)!;
    // Around it are those of which all but the last bytes are handed over, and not all taken.
    const lengths = Array.from({ length: 12 }, (_, n) => Number(taken) + (n - 6) * 30_000);
    const results = await Promise.all(lengths.map(pushBytes));
    for (const { outcome, maybeTaken, detail } of results) {
      expect({ outcome, maybeTaken }).toEqual({ outcome: 'unknown', maybeTaken: true });
      expect(detail).toContain('no byte moved for 0.5 s');
    }
    // Nobody is asked for the word to send what cannot be sent.
    expect(asked).toBe(results.filter(({ detail }) => detail!.includes('the request was sent whole')).length);
  },
);

/** Whether some bytes are all of the snapshot. */
function wholeJson(read: () => Buffer): boolean {
  try {
    return read().length === large.bytes;
  } catch {
    return false;
  }
}

test('whatever the chunks, all bytes come in their order, and the last ones after the word', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), async (chunks) => {
      const all = Buffer.concat(chunks);
      const before: Uint8Array[] = [];
      const after: Uint8Array[] = [];
      let isConfirmed = false;
      const source = async function* (): AsyncGenerator<Uint8Array> {
        yield* chunks;
      };
      const confirm = async (): Promise<void> => void (isConfirmed = true);
      for await (const chunk of confirmed(source(), confirm)) (isConfirmed ? after : before).push(chunk);
      expect(Buffer.concat([...before, ...after]).equals(all)).toBe(true);
      expect(Buffer.concat(after).length).toBe(Math.min(64, all.length));
    }),
  );
});
