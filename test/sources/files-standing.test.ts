/** A file whose times lie ahead of the clock has to be seen standing still. */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { laterClock, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const table = 'a,b\n1,2\n';

test('a file is read by a later pass where its time is in the future and settle is longer than a pass waits', async () => {
  const dir = await tempDir();
  await writeFiles(dir, { 'a.csv': table });
  const clock = laterClock(-86_400_000);
  const source = openSource('csv', { files: ['a.csv'], settle: '90s' }, dir, clock);
  const later = (ms: number) => clock.sleep(ms, new AbortController().signal);
  await expect(readWhole(source)).rejects.toMatchObject({ code: 'part.changing' });
  await later(60_000);
  await appendFile(path.join(dir, 'a.csv'), '3,4\n');
  await expect(readWhole(source)).rejects.toMatchObject({ code: 'part.changing' });
  await later(89_000);
  expect((await readWhole(openSource('csv', { files: ['a.csv'], settle: '90s' }, dir, clock))).rows).toHaveLength(2);
  expect(clock.sleptMs).toEqual([60_000, 89_000, 1_000]);
});
