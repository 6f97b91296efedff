import { describe, expect, test } from 'vitest';
import { parseTemplate, renderName, renderText, slug, templateColumns } from '../../src/core/mapping/template.ts';
import { template } from '../support/templates.ts';

const maps = { region: { N: 'North', S: 'South', toString: 'a name like any other' } };
const field = (fields: Record<string, string>) => (column: string) => fields[column] ?? '';

describe('a template', () => {
  test('puts columns between literal text', () => {
    expect(renderText(template('{year} {month}'), field({ year: '2026', month: 'March' }), maps)).toBe('2026 March');
  });

  test('writes braces as doubled braces', () => {
    expect(renderText(template('{{{a}}}'), field({ a: '1' }), maps)).toBe('{1}');
  });

  test('names the columns that it needs', () => {
    expect(templateColumns(template('{a}/{b|slug}/x'))).toEqual(['a', 'b']);
  });

  test.each([
    ['{a', 'a "{" without its "}"; write "{{" for a brace', 0],
    ['x}', 'a "}" without its "{"; write "}}" for a brace', 1],
    ['{}', 'a placeholder names no column, such as {amount}', 0],
    [
      'x{a|slugg}',
      'unknown filter "slugg"; there are trim, lower, upper, slug, map:NAME, match:PATTERN, default:TEXT',
      1,
    ],
    ['{a|match:(x}', 'a "{" without its "}"; write "{{" for a brace', 0],
    [
      'x{a|match:(x+)+}',
      'bad pattern "(x+)+": its first group, whose text is taken, is repeated; put the repetition inside the group: ((?:…)+)',
      1,
    ],
    ['{a|match:(?=x)}', expect.stringContaining('looks ahead'), 0],
    [
      '{a|lower:x}',
      'unknown filter "lower:x"; there are trim, lower, upper, slug, map:NAME, match:PATTERN, default:TEXT',
      0,
    ],
    [
      '{Region | Name}',
      expect.stringContaining('a column whose name has a "|" is named by its place, such as {#1}'),
      0,
    ],
  ])('says what is wrong with %s', (text, problem, offset) => {
    expect(parseTemplate(text)).toEqual({ problem, offset });
  });

  test.each([
    ['{a|match:\\d{4}-\\d{2}}', 'revenue-2026-03.csv', '2026-03'],
    ['{a|match:^revenue-(\\d{4}-\\d{2})\\.csv$}', 'revenue-2026-03.csv', '2026-03'],
    ['{a|match:_(?<city>[^_}|]+)_|upper}', 'rev_Köln_3', 'KÖLN'],
    ['{a|match:(?:Q|q)([1-4])}', 'fy-q3', '3'],
    ['{a|match:(Jan|Feb)\\}|lower}', 'x Feb} y', 'feb'],
    ['{a|match:\\d+|default:none}', 'abc', 'none'],
    ['{a|lower|match:[|{]b|trim}', 'A|B', '|b'],
    ['{a|match:(x)?y}', 'y', ''],
  ])('takes a piece of a text by a pattern: %s', (written, a, taken) => {
    expect(renderText(template(written), field({ a }), maps)).toBe(taken);
  });
});

describe('a name', () => {
  test('is trimmed in its placeholders, not in its literal text', () => {
    expect(renderName(template(' {a} '), field({ a: ' x ' }), maps)).toBe(' x ');
  });

  test.each(['', '  ', '\u00a0'])('is refused where a placeholder is empty: %j', (a) => {
    expect(renderName(template('p/{a}'), field({ a }), maps)).toEqual({ column: 'a' });
  });

  test('is refused where a text is not in a map', () => {
    expect(renderName(template('{a|map:region}'), field({ a: 'W' }), maps)).toEqual({ column: 'a' });
  });

  test('takes a default where a placeholder came out empty', () => {
    expect(renderName(template('{a|map:region|default:Elsewhere}'), field({ a: 'W' }), maps)).toBe('Elsewhere');
    expect(renderName(template('{a|default:none}'), field({ a: '' }), maps)).toBe('none');
    expect(renderName(template('{a|default:none}'), field({ a: 'x' }), maps)).toBe('x');
  });

  test.each([' N', 'N ', '\t N\u00a0', 'N\u0085'])('looks %j up without the white space around it', (a) => {
    expect(renderName(template('{a|map:region}'), field({ a }), maps)).toBe('North');
    expect(renderText(template('{a|map:region}'), field({ a }), maps)).toBe('North');
    expect(renderText(template('{a|match:^[^/]*|map:region}'), field({ a: `${a}/x` }), maps)).toBe('North');
  });

  test('looks up only keys that the map itself has', () => {
    expect(renderName(template('{a|map:region}'), field({ a: 'toString' }), maps)).toBe('a name like any other');
    expect(renderName(template('{a|map:region}'), field({ a: 'constructor' }), maps)).toEqual({ column: 'a' });
  });
});

test.each([
  ['Sign Ups', 'sign-ups'],
  ['Café Crème (Île)', 'cafe-creme-ile'],
  ['  --A_B--  ', 'a-b'],
  ['日本 東京', '日本-東京'],
  ['हिन्दी भाषा', 'हिन्दी-भाषा'],
  ['№ 5', 'no-5'],
  ['***', ''],
])('slug makes %j %j', (text, expected) => {
  expect(slug(text)).toBe(expected);
});
