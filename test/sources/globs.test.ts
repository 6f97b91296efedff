import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findGlobProblem, isMatch, isNamed, parseGlob } from '../../src/sources/files/glob.ts';
import { calm, openSource, tempDir, writeFiles } from '../support/source-world.ts';

describe('a glob', () => {
  test.each([
    ['*a*a*a*a*b', 'more than 4 wildcards'],
    ['exports/*a*a*a*!(a)*b/x.csv', 'more than 4 wildcards'],
    ['+(*a)b', 'repeat a group'],
    ['report*(1).csv', 'repeat a group'],
    ['{a,b}'.repeat(10), 'more than 1000'],
    [`${'{a,b}'.repeat(5)}/${'{a,b}'.repeat(5)}`, 'more than 1000'],
    ['{1..1000000}.csv', 'more than 1000'],
    ['{1..10}{5..-5}{a,{b,c},d,e,f,g,h,i,j,k}.csv', 'more than 1000'],
  ])('that could keep the agent busy is refused: %s', (text, problem) => {
    expect(findGlobProblem(text)).toContain(problem);
  });

  test.each([
    ['exports/**/*-*-*-*.csv', 'exports/2026/1/a-b-c-d.csv'],
    ['{north,south}-{2020..2029}.csv', 'south-2026.csv'],
    ['*report****.csv', 'the report.csv'],
    ['report*[(]1).csv', 'report (1).csv'],
    ['*a*a*a*b', `${'a'.repeat(254)}b`],
  ])('is accepted as people write it: %s', (text, name) => {
    expect(findGlobProblem(text)).toBeUndefined();
    expect(isMatch(parseGlob('/books', text), `/books/${name}`)).toBe(true);
  });

  test('means the names that Node says, whatever wildcards it has', () => {
    const text = (characters: string): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(text('ab.-*'), text('ab.- *A\n'), (segment, name) => {
        fc.pre(segment.includes('*') && !/^\.{1,2}$/.test(name));
        expect(isNamed(name, segment)).toBe(path.matchesGlob(name, segment));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a name that is composed otherwise than the pattern', () => {
  test.each([
    ['u\u0308b\u00e9.csv', '\u00fcb\u00e9.csv', 'decomposed (NFD)', '*b*.csv'],
    ['\u00fcb.csv', 'u\u0308b.csv', 'composed (NFC)', '*b.csv'],
    ['u\u0308b-2026.csv', '\u00fcb-*.csv', 'decomposed (NFD)', '*b-*.csv'],
    ['u\u0308b/a.csv', '\u00fcb/*.csv', 'decomposed (NFD)', '*b'],
  ])('is another one, and the hint says what to write: %j, %j', async (file, pattern, form, open) => {
    const dir = await tempDir();
    await writeFiles(dir, { [file]: 'a,b\n1,2\n', 'other.csv': 'a,b\n1,2\n' });
    const parts = (glob: string) => openSource('csv', { files: [glob] }, dir).parts(calm);
    const name = file.split('/')[0];
    await expect(parts(pattern)).rejects.toMatchObject({
      code: 'source.unreadable',
      hint: `${name} is there, and looks the same: its letters with marks are ${form}, those of the config are not; write ${open}, or rename it`,
    });
    const found = await parts([open, ...pattern.split('/').slice(1)].join('/'));
    expect(found.map((part) => part.name)).toEqual([file]);
  });
});
