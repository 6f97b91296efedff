/** Which encoding `init --from` proposes for the bytes of a text. */
import { expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

test.each([
  ['windows-1252', 'latin1'],
  ['utf-16le', 'utf16le'],
] as const)('text in %s', (label, encoding) => {
  const text = lines('Monat;Stra\u00dfe;Betrag', '2024-01;K\u00f6ln;1,50', '2024-02;Bonn;2,50');
  expect(proposed({ 'a.csv': Buffer.from(text, encoding) }).source).toMatchObject({
    encoding: label,
    drivers: [{ path: ['A', '{Stra\u00dfe}'] }],
  });
});

test('text of a DOS program', () => {
  // K\u00f6ln and D\u00fcren in code page 850.
  const bytes = Buffer.concat([
    Buffer.from('Monat;Ort;Betrag\n2024-01;K'),
    Buffer.of(0x94),
    Buffer.from('ln;1,50\n2024-02;D'),
    Buffer.of(0x81),
    Buffer.from('ren;2,50\n'),
  ]);
  expect(proposed({ 'a.csv': bytes }).source).toMatchObject({ encoding: 'cp850' });
});

test.each<[string, Buffer, string, string | undefined]>([
  ['a byte that windows-1252 has no character for', Buffer.of(0x81, 0xe9, 0xe9), 'cp850', undefined],
  ['letters of both, more of DOS', Buffer.of(0x94), 'cp850', 'windows-1252'],
  ['letters of windows-1252 that are frames of DOS', Buffer.of(0xf6), 'windows-1252', undefined],
  ['\u00df of DOS, which is \u00e1 of windows-1252', Buffer.of(0xe1), 'windows-1252', 'cp850'],
  ['a euro sign', Buffer.of(0x80), 'windows-1252', 'cp850'],
])('where two encodings are possible, the other one stands above it: %s', (_what, letters, label, other) => {
  const [head, tail] = [Buffer.from('Monat;Ort;Betrag\n2024-01;K'), Buffer.from('ln;1,50\n2024-02;Bonn;2,50\n')];
  const { source, text } = proposed({ 'a.csv': Buffer.concat([head, letters, tail]) });
  expect(source).toMatchObject({ encoding: label });
  expect(/# or encoding: (.*)/.exec(text ?? '')?.[1]).toBe(other);
});

test('a byte-order mark and UTF-8 need no encoding', () => {
  const { source } = proposed({
    'a.csv': `\uFEFF${lines('Monat;Ort;Betrag', '2024-01;K\u00f6ln;1,50', '2024-02;K\u00f6ln;2')}`,
  });
  expect(source).not.toHaveProperty('encoding');
  expect(source.drivers[0]?.time).toBe('{Monat}');
});
