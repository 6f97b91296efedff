/** The bugs that `planted.long.e2e` plants: the lines that they change are there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { plants } from './planted/plants.ts';
import { plantsOfRules, rulesOf, rulesTable } from './planted/rules.ts';

const root = path.resolve(import.meta.dirname, '../..');
const src = path.join(root, 'src');

test('each plant has a name of its own and names what it breaks', () => {
  expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length);
  expect(plants.every(({ breaks }) => breaks.length > 0)).toBe(true);
});

test.each(plants)('$name: what is changed stands once in its file', ({ file, find }) => {
  expect(readFileSync(path.join(src, file), 'utf8').split(find)).toHaveLength(2);
});

test('each rule has bugs that break it, or a reason why it has none; and each bug breaks a rule', () => {
  expect(Object.keys(plantsOfRules)).toEqual(rulesOf(readFileSync(path.join(root, 'docs/RULES.md'), 'utf8')));
  const breaking = Object.values(plantsOfRules).flatMap((of) => (typeof of === 'string' ? [] : of));
  expect(new Set(breaking)).toEqual(new Set(plants.map(({ name }) => name)));
});

test('docs/HISTORIES.md says which', () => {
  expect(readFileSync(path.join(root, 'docs/HISTORIES.md'), 'utf8')).toContain(rulesTable());
});
