import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePattern } from '../../src/core/mapping/pattern.ts';
import { pattern } from '../support/templates.ts';
import { runsOf } from '../support/campaign.ts';

function problem(source: string): string {
  const parsed = parsePattern(source);
  return 'problem' in parsed ? `${parsed.problem} (${parsed.hint ?? ''})` : 'none';
}

describe('a pattern that would backtrack without end', () => {
  test.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(.*a){12}$', '^(?<x>(?:a+)+)$'])(
    '%s is answered at once',
    (source) => {
      const compiled = pattern(source);
      // A RegExp would take days; half a second for each is what a busy machine may need to compile.
      const startedAt = performance.now();
      expect(compiled.test(`${'a'.repeat(4000)}!`)).toBe(false);
      expect(compiled.exec(`${'a'.repeat(4000)}!`)).toBeUndefined();
      expect(performance.now() - startedAt).toBeLessThan(5000);
    },
  );
});

describe('a pattern means what it means to JavaScript', () => {
  // Without \B, which V8 also finds inside a character of two units.
  const atoms = [
    'a',
    'B',
    '7',
    '_',
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\.',
    '\\/',
    '\\n',
    '\\t',
    '[\\0]',
    '-',
    '&',
    '[ab]',
    '[^ab]',
    '[a-c7]',
    '[^\\s]',
    '[\\S\\n]',
    '[\\w-]',
    '[-a]',
    '[^-]',
    '[[]',
    '[:a]',
    '[a\\]]',
    '[]',
    '[^]',
    '\\p{L}',
    '\\P{L}',
    '\\p{Script=Greek}',
    '[\\p{Lu}\\d]',
    '[^\\P{Nd}]',
    '\\u00e9',
    '\\u{1F600}',
    '\\uD83D\\uDE00',
    '\\xA0',
    '\\cJ',
    '[\\b]',
    '[\\x41-\\u0043]',
    'é',
    '😀',
    '^',
    '$',
    '\\b',
    '[\\u{1F600}-\\u{1F64F}]',
    '\\^',
  ];
  const atom = fc.constantFrom(...atoms);
  const isAssertion = (text: string): boolean => ['^', '$', '\\b'].includes(text);
  const repeated = fc
    .tuple(atom, fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '*?', '+?', '??'))
    .map(([text, times]) => (isAssertion(text) ? text : text + times));
  /** Texts of patterns. @param suffixes what may follow a group */
  const patterns = (suffixes: readonly string[]): fc.Arbitrary<string> =>
    fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        atom,
        repeated,
        fc.tuple(tie('any'), fc.constantFrom(...suffixes)).map(([inner, suffix]) => `(?:${inner})${suffix}`),
        tie('any').map((inner) => `(${inner})`),
        fc.tuple(tie('any'), tie('any')).map((both) => both.join('')),
        fc.tuple(tie('any'), tie('any')).map((both) => both.join('|')),
      ),
    })).any;
  const character = fc.constantFrom(
    ...Array.from('aaBbcC7_- .&[]/^\n\r\t\u000b\u00a0\ufeff\u2028\u0000\u0085éαΩ😀٣ſ\b'),
  );
  const text = fc.array(character, { maxLength: 7 }).map((characters) => characters.join(''));

  test('whatever it is and wherever it is tried', () => {
    fc.assert(
      fc.property(patterns(['', '*', '+', '?', '*?']), text, (source, input) => {
        expect(pattern(source).test(input)).toBe(new RegExp(source, 'u').test(input));
      }),
      runsOf(200, 8000),
    );
  });

  test('and its named groups hold the same', () => {
    // JavaScript goes back on a round of a repetition that matched nothing, re2 does not: (?<one>a*?)? may hold "a" or "".
    const any = patterns(['']);
    const groups = fc
      .tuple(any, any, any)
      .map(([first, second, third]) => `(?<one>(?:${first})a)?(?:${second}|(?<two>${third}))`);
    fc.assert(
      fc.property(groups, text, (source, input) => {
        const match = new RegExp(source, 'u').exec(input);
        const expected = match && { one: match.groups?.['one'] ?? '', two: match.groups?.['two'] ?? '' };
        const found = pattern(source).exec(input);
        expect(found === undefined ? null : Object.fromEntries(found)).toEqual(expected);
      }),
      runsOf(200, 8000),
    );
  });

  test.each([
    ['(?<year>\\d{4})-(?<month>\\d\\d)', '2026-03', { year: '2026', month: '03' }],
    ['(?<größe>\\d+)', '42 cm', { größe: '42' }],
    ['(?<gr\\u00f6\\u{df}e>\\d+)', '42 cm', { größe: '42' }],
    ['(?<a>x)|(?<b>y)', 'y', { a: '', b: 'y' }],
    ['(?<inner>\\B\\w\\B)', 'abc', { inner: 'b' }],
    ['x', 'x', {}],
  ])('%s on %s', (source, input, expected) => {
    const compiled = pattern(source);
    expect(compiled.groupNames).toEqual(Object.keys(expected));
    expect(Object.fromEntries(compiled.exec(input) ?? [])).toEqual(expected);
  });

  test('with the flag i it ignores case', () => {
    expect(pattern('^umsätze [a-z]+$', 'i').test('UMSÄTZE Nord')).toBe(true);
    expect(pattern('^\\p{Lu}$', 'i').test('b')).toBe(true);
  });

  test('shows itself as written', () => expect(pattern('\\s(?<a>.)').source).toBe('\\s(?<a>.)'));
});

describe('what cannot be decided in time that grows with the text alone', () => {
  const because = 'patterns here take time in proportion to the text, and that rules it out';

  test.each([
    ['(?!Total)', `"(?!" looks ahead (write { not: { matches: … } } in where: ${because})`],
    ['a(?=b)', `"(?=" looks ahead (match what stands around it too: ${because})`],
    ['(?<=a)b', `"(?<=" looks behind (match what stands around it too: ${because})`],
    ['(?<!a)b', `"(?<!" looks behind (write { not: { matches: … } } in where: ${because})`],
    ['(a)\\1', `a reference to an earlier group (write out what may stand there: ${because})`],
    ['(?<a>a)\\k<a>', `a reference to an earlier group (write out what may stand there: ${because})`],
    ['a{1001}', 'it is too large (repeat at most 1000 times, also where one repetition is inside another)'],
    ['(?:a{100}){100}', 'it is too large (repeat at most 1000 times, also where one repetition is inside another)'],
    ['(?:(?<a>a)|b)+', 'a named group inside a repetition (put the repetition inside the group: (?<name>(?:…)+))'],
    ['(?<a>a){2}', 'a named group inside a repetition (put the repetition inside the group: (?<name>(?:…)+))'],
  ])('%s is a problem with a hint', (source, expected) => expect(problem(source)).toBe(expected));

  test.each(['[(?!]', '\\(?=', '[(?<=]', '[\\\\1]', '(?:(a)){3}', '(?<a>a)?', '(?<a>(?:a)+)'])(
    '%s is none',
    (source) => {
      expect(problem(source)).toBe('none');
    },
  );
});
