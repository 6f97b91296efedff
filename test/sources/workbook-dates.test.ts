import { expect, test } from 'vitest';
import { dateShape } from '../../src/sources/formats/workbook-dates.ts';

test('a number format longer than any that Excel takes is not searched for the parts of a date', () => {
  expect(dateShape(164, 'yyyy-mm-dd')).toMatchObject({ hasDate: true });
  // The search would take minutes for a million brackets that stay open.
  expect(dateShape(164, '['.repeat(1_000_000))).toBeUndefined();
});
