/** Headers of the answers that faults give. */
import { expect, test } from 'vitest';
import { emulatorWorld } from '../support/emulator-world.ts';

test.for(['Trailer', 'transfer-encoding', 'Content-Length'])(
  '%s is refused: it follows from the body',
  async (name) => {
    const emulator = await emulatorWorld();
    const ordered = JSON.stringify({ status: 503, headers: { [name]: '1' } });
    const answer = await emulator.fetch('/_emulator/faults', { method: 'POST', body: ordered });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { issues: [{ message: 'is set by the emulator itself: truncate sends less than an answer declares' }] },
    ]);
  },
);

test('a header is sent once, however its name is written', async () => {
  const emulator = await emulatorWorld();
  const headers = { 'Retry-After': '5', 'Content-Type': 'text/html', 'X-A': '1', 'x-a': '2' };
  emulator.faults(
    { status: 503, retryAfter: 7, headers },
    { status: 503, contentType: 'text/css', body: 'a', headers },
  );
  const seen = async () => {
    const answer = await fetch(`${emulator.url}/v1/routers`);
    return ['retry-after', 'content-type', 'x-a'].map((name) => answer.headers.get(name));
  };
  expect(await seen()).toEqual(['7', 'text/html', '2']);
  expect(await seen()).toEqual(['5', 'text/css', '2']);
});
