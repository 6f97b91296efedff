import { expect, test } from 'vitest';
import { monthOf } from '../../src/core/time/month.ts';
import { rest, settings } from '../support/config-world.ts';

test.each([
  ['lastClose: 2026-09', { kind: 'month', month: monthOf(2026, 9) }],
  ['lastClose: "2026-09"', { kind: 'month', month: monthOf(2026, 9) }],
  ['lastClose: { day: 10 }', { kind: 'day', day: 10 }],
  ['timezone: UTC', undefined],
])('%s', (yaml, lastClose) => {
  expect(settings(yaml + rest).lastClose).toEqual(lastClose);
});

test('values are judged unless the config says otherwise', () => {
  expect(settings(`timezone: UTC${rest}`).guard.values).toBe('hold');
});
