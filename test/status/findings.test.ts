/** What the status page says of findings in the values of a read. */
import { expect, test } from 'vitest';
import type { Finding } from '../../src/core/values/finding.ts';
import { textOf } from '../../src/pages/markup.ts';
import { showFindings } from '../../src/status/changes.ts';

const finding: Finding = { kind: 'fewer-readings', group: [], points: 24, of: 60, examples: [] };

test.each<[string, Partial<Finding>]>([
  ['<bdi>the whole source</bdi>', {}],
  ['<bdi>North / A</bdi>', { group: ['North', 'A'] }],
  ['<bdi>sales-2.csv</bdi>', { part: 'sales-2.csv' }],
  ['<bdi>North</bdi> in <bdi>sales-2.csv</bdi>', { group: ['North'], part: 'sales-2.csv' }],
])('%s', (where, about) => {
  const page = textOf(showFindings([{ ...finding, ...about }])).replaceAll(/\s+>/g, '>');
  expect(page).toContain(where);
  expect(page).toContain('24 readings of 60 readings');
});
