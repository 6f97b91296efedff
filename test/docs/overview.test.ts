import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { overviewPicture } from '../support/overview-picture.ts';

test('docs/overview.svg is up to date; if not: node test/support/update-overview-picture.ts', () => {
  expect(readFileSync(new URL('../../docs/overview.svg', import.meta.url), 'utf8')).toBe(overviewPicture());
});
