import { describe, expect, test } from 'vitest';
import { problems, rest, source } from '../support/config-world.ts';

describe('text that YAML does not take', () => {
  test.each([
    [
      'state: a: b',
      '1:8 state: a second "key: value" where a value stands (indent both lines alike, or put a text that has ": " in quotes)',
    ],
    ['state: @a', '1:8 state: a text that begins with a character of YAML (put the text in quotes)'],
    [
      'timezone: "\\d"',
      '1:12 timezone: an unknown escape in double quotes (write two backslashes, or use single quotes)',
    ],
    [
      'state: *a',
      '1:8 state: an alias without an anchor before it (set the anchor (&name) above it; a text that begins with "*" needs quotes)',
    ],
    ['state: !a b', '1:8 state: an unknown YAML tag (put a text that begins with "!" in quotes)'],
    ['guard:\n\tfloor: 1', '2:1 guard: a tab as indentation (indent with spaces)'],
    [
      'guard: { floor: 3, maxDeletes: 10,5% }',
      '1:34 guard.maxDeletes: between braces a comma ends the value, and no key follows here (write a number with a point, such as 10.5%, and put a text that has a comma in quotes)',
    ],
    [
      'guard: { floor: ,, maxDeletes: 10% }',
      '1:18 guard: between braces or brackets a comma ends a value, and here is none (take one comma out; where a comma is the value, put it in quotes: ",")',
    ],
  ])('%s', (yaml, problem) => {
    expect(problems(yaml + rest)).toContain(problem);
  });

  test.each([
    ['[NA, -]', '2:17'],
    ['[-, null, ~, 0.0]', '2:13'],
    ['[NA, - x]', '2:17'],
    ['-', '2:12'],
    ['\n    - NA\n    - -', '4:7'],
  ])('a "-" for "no value" needs quotes, which is said once and where it stands: %j', (missing, at) => {
    expect(problems(`defaults:\n  missing: ${missing}\n${rest}`)).toEqual([
      expect.stringMatching(`^${at} \\S+: a "-" begins a list here \\(put "-" in quotes where it is a text; `),
    ]);
  });

  const replaced = 'stands where YAML knows spaces alone (replace it by a space, or put a text that has it in quotes';
  test.each([
    ['  s:\n  \u00a0 type: csv\n', `3:3 : a no-break space (U+00A0) ${replaced})`],
    [
      '\u202f\u202fs:\n\u202f\u202f\u202f\u202ftype: csv\n',
      `2:1 : a narrow no-break space (U+202F) ${replaced}; such characters stand in 1 more place)`,
    ],
    ['  s:\n    type:\u2007csv\n    files: [a.csv]\n', `3:10 : a figure space (U+2007) ${replaced})`],
    ['  s:\n    type: \u3000csv\n', `3:11 : an ideographic space (U+3000) ${replaced})`],
    ['  s:\n    files:\n      -\u2009a.csv\n', `4:8 : a space of another width (U+2009) ${replaced})`],
    ['  s: { poll:\u00a05m }\n', `2:13 : a no-break space (U+00A0) ${replaced})`],
    ['  s: {}\u00a0\n', `2:8 : a no-break space (U+00A0) ${replaced})`],
    [
      '  \u200bs: {}\n',
      '2:3 : a zero width space (U+200B) stands where YAML knows spaces alone (remove it, or put a text that has it in quotes)',
    ],
  ])('a space that is none of YAML is told alone, with its name and its place: %j', (lines, problem) => {
    expect(problems(`sources:\n${lines}destination: emulator\n`)).toEqual([problem]);
  });

  test('a no-break space within a text, in quotes or in a comment is part of that text', () => {
    const yaml = `destination: emulator # of\u00a0ours:\u00a0
sources:
  s:
    type: csv
    files: [a.csv]
    where: { Umsatz\u00a0EUR: "\u00a0x: \u00a0" }
    drivers: [{ path: [a\u00a0- b], time: "{t}", value: { from: "{v}", group: "\u202f" } }]
`;
    expect(problems(yaml)).toEqual([]);
  });

  test('a tab that indents is told alone: nothing behind it stands where it seems to', () => {
    const yaml = `destination: emulator
sources:
  a:
\ttype: csv
    files: [a.csv]
    drivers:
      - { path: [a], time: "{t}", value: "{v}" }
`;
    expect(problems(yaml)).toEqual([expect.stringMatching(/^4:1 \S+: a tab as indentation \(indent with spaces\)$/)]);
  });

  test('hides no other problem and causes none', () => {
    const yaml = `timezone: Nowhere
guard: { floor: 3
destination: { url: x }
sources:
  a:
    type: csv
    files: ["a.csv"] b.csv
    drivers: 3
  b: { type: csv, files: [b], poll: 5, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }
`;
    expect(problems(yaml)).toEqual([
      '1:11 timezone: expected an IANA time zone such as Europe/Berlin or UTC, found "Nowhere"',
      expect.stringMatching(/^3:1 guard: flow map in block collection must be sufficiently indented/),
      '3:21 destination.url: expected an http or https address (such as https://drivers.example.com)',
      expect.stringMatching(/^7:22 sources.a: YAML does not expect this here/),
      '9:37 sources.b.poll: expected a duration such as 30s, 20h or 400d, found 5 (write 5s, 5m, 5h or 5d)',
    ]);
  });

  test('shows nothing of the file, where a token may stand', () => {
    for (const text of [
      '*hunter2',
      '!hunter2 x',
      '"x" hunter2',
      '|hunter2',
      '{ hunter2: x } hunter2',
      '%hunter2',
      '{hunter2}',
      '[a]]hunter2',
    ]) {
      const found = problems(`destination:\n  url: http://a\n  token: ${text}\nsources: {}\n`);
      expect(found).not.toEqual([]);
      expect(found.join()).not.toContain('hunter2');
    }
  });

  test('an alias inside the value that it stands for ends', () => {
    const endless = 'an alias inside the value that it stands for, or aliases that make the config endless';
    expect(problems(`state: &a [*a]${rest}`)).toContain(
      `1:12 state[0]: ${endless} (write the value out instead of the alias)`,
    );
    expect(problems(`guard: &a { <<: *a }${rest}`).join()).toContain(endless);
  });

  test('aliases of aliases of aliases do not eat the memory', () => {
    const lines = Array.from(
      { length: 12 },
      (_, i) =>
        `${i}: &a${i} [${Array(10)
          .fill(i === 0 ? 'x' : `*a${i - 1}`)
          .join(',')}]`,
    );
    expect(problems(lines.join('\n') + rest).join()).toContain('aliases that make the config endless');
  });

  test('a key that is not a text', () => {
    expect(problems(`? [a]\n: 1${rest}`)).toContain('1:3 : a key that is not a text (quote the key)');
    expect(problems(`? \n: 1${rest}`).join()).toContain('a key that is not a text (quote the key)');
  });

  test('a key that is empty, but for a text of a map', () => {
    expect(problems(`"": 1${rest}`)).toContain('1:1 : an empty key (give it a name, or take it out)');
    const { mapping } = source('    maps: { region: { N: North, "": Nowhere } }');
    expect(mapping.maps).toEqual({ region: { N: 'North', '': 'Nowhere' } });
  });
});
