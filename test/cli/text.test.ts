import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cutToWidth, table } from '../../src/cli/text.ts';

test('columns stand below each other whatever script a name is in', () => {
  const lines = table(
    [
      ['driver', 'left'],
      ['value', 'right'],
    ],
    [
      ['売上/東京', '1'],
      ['Revenue/Zu\u0308rich', '20'],
      ['📈', '300'],
    ],
  );
  expect(lines.map((line) => stringWidth(line))).toEqual([21, 21, 21, 21]);
  expect(lines[1]).toBe('売上/東京           1');
});

test('a line is cut where a terminal ends, and not within a letter', () => {
  expect(cutToWidth('reading 売上.csv', 11)).toBe('reading 売');
  expect(cutToWidth('reading a.csv', 80)).toBe('reading a.csv');
  expect(cutToWidth('Zu\u0308rich', 2)).toBe('Zu\u0308');
});
