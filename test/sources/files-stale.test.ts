/** Files on a share that goes away, or that are replaced there, while they are open. */
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

/** A source of one file, and what Node does with the files that it opens. */
async function opened(): Promise<{ read: () => ReturnType<typeof readWhole>; prototype: FileHandle }> {
  const dir = await tempDir();
  await writeFiles(dir, { 'a.csv': 'a,b\n1,2\n' });
  const probe = await open(path.join(dir, 'a.csv'));
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  onTestFinished(() => void vi.restoreAllMocks());
  return { read: () => readWhole(openSource('csv', { files: ['*.csv'] }, dir)), prototype };
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code, errno: -116 });
}

test.each(['opened', 'read'])(
  'one that is stale once it was %s cannot be read now, and that is no bug',
  async (after) => {
    const { read, prototype } = await opened();
    const real = Reflect.get(prototype, 'stat') as () => Promise<never>;
    const ask = vi.spyOn(prototype, 'stat');
    if (after === 'read') ask.mockImplementationOnce(real);
    ask.mockRejectedValueOnce(failure('ESTALE'));
    await expect(read()).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/a\.csv cannot be read: ESTALE/),
    });
  },
);

test('one that was read whole and cannot be closed was read', async () => {
  const { read, prototype } = await opened();
  const real = Reflect.get(prototype, 'stat') as (options: object) => Promise<never>;
  vi.spyOn(prototype, 'stat').mockImplementationOnce(async function (this: FileHandle) {
    const close = this.close.bind(this);
    this.close = async () => {
      await close();
      throw failure('ENOTCONN');
    };
    return real.call(this, { bigint: true });
  });
  expect((await read()).rows).toHaveLength(1);
});
