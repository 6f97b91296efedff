/** What a read that took too long says. */
import { expect, test } from 'vitest';
import { withTimeout } from '../../src/app/read/timeout.ts';
import { systemClock } from '../../src/edges/clock.ts';

test.each([
  { ms: 1, said: '1 ms' },
  { ms: 20, said: '20 ms' },
])('after $said', async ({ ms, said }) => {
  const work = withTimeout(systemClock, { ms, what: 'reading' }, new AbortController().signal, (signal) =>
    systemClock.sleep(10_000, signal),
  );
  await expect(work).rejects.toMatchObject({ code: 'source.timeout', message: `reading took longer than ${said}` });
});
