/** Content from elsewhere that is kept in a file while it is read. */
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { keepContent } from '../../src/sources/files/keep.ts';
import { asAnybody } from '../support/anybody.ts';
import { tempDir } from '../support/source-world.ts';

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('id,time,value\n');
}

test('what was kept and cannot be removed fails nothing, and is removed when it can be', async () => {
  const state = await tempDir();
  const kept = await keepContent(content(), { what: 'x.csv', state, bytesMax: 100 });
  const folder = path.join(state, 'kept');
  await chmod(folder, 0o500);
  await asAnybody(() => kept.remove());
  expect(existsSync(kept.file)).toBe(true);
  await chmod(folder, 0o700);
  await kept.remove();
  expect(existsSync(path.dirname(kept.file))).toBe(false);
});
