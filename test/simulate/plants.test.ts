/** The bugs that `planted.long.e2e` plants: the lines that they change are there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { plants } from './planted/plants.ts';

const src = path.resolve(import.meta.dirname, '../../src');

test('each plant has a name of its own and names what it breaks', () => {
  expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length);
  expect(plants.every(({ breaks }) => breaks.length > 0)).toBe(true);
});

test.each(plants)('$name: what is changed stands once in its file', ({ file, find }) => {
  expect(readFileSync(path.join(src, file), 'utf8').split(find)).toHaveLength(2);
});
