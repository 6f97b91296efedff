import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/sources/index.ts';
import { problems, sourceYaml } from '../support/config-world.ts';

/** Lines of a source, from line 7 on, or from line 6 where they say `drivers`; and their only problem. */
const wrongInASource: readonly (readonly [yaml: string, problem: string])[] = [
  ['dlimiter: ";"', '7:5 sources.s.dlimiter: unknown key "dlimiter" (did you mean "delimiter"?)'],
  [
    'timezone: UTC',
    '7:5 sources.s.timezone: unknown key "timezone" ("timezone" belongs at the top level or under time)',
  ],
  ['guard: { maxRejects: 5 }', '7:14 sources.s.guard.maxRejects: unknown key "maxRejects" (known here: values)'],
  ['guard:', '7:5 sources.s.guard: no value (write a value after the key, "" for the empty text, or remove the line)'],
  ['poll: 0s', '7:11 sources.s.poll: expected a duration longer than 0s, found "0s"'],
  ['skipRows: "3"', '7:15 sources.s.skipRows: expected a number, found "3" (write 3, without quotes)'],
  ['lineEnd: maybe', '7:14 sources.s.lineEnd: expected "expected" or "any", found "maybe"'],
  [
    'drivers: [{ id: null, path: [a], time: "{t}", value: "{v}" }]',
    '6:21 sources.s.drivers[0].id: expected a template, found null (leave the key out, or put the text that is meant in quotes)',
  ],
  ['removed: drop', '7:14 sources.s.removed: expected "carry" or "delete", found "drop"'],
  ['missing: NA', '7:14 sources.s.missing: expected a list, found "NA" (write a list in brackets, such as ["…"])'],
  [
    'where: { a: null }',
    '7:17 sources.s.where.a: expected a text, found null (write "" for an empty cell, or put the word in quotes, such as "null")',
  ],
  [
    'where: { a: { not: [b, null] } }',
    '7:28 sources.s.where.a.not[1]: expected a text, found null (write "" for an empty cell, or put the word in quotes, such as "null")',
  ],
  [
    'maps: { r: { N: null } }',
    '7:21 sources.s.maps.r.N: expected a text, found null (write "" for the empty text, or put the word in quotes, such as "null")',
  ],
  [
    'maps: { r: { N: ~ } }',
    '7:21 sources.s.maps.r.N: expected a text, found null (write "" for the empty text, or put the word in quotes, such as "null")',
  ],
  [
    'maps: { r: { N: , S: South } }',
    '7:18 sources.s.maps.r.N: no value (write a value after the key; where it is a comma, put it in quotes: ",")',
  ],
  [
    'where: { a: NULL }',
    '7:17 sources.s.where.a: expected a text, found null (write "" for an empty cell, or put the word in quotes, such as "null")',
  ],
  [
    'drivers: [{ path: [~], time: "{t}", value: "{v}" }]',
    '6:24 sources.s.drivers[0].path[0]: expected a template, found null (leave the key out, or put the text that is meant in quotes)',
  ],
  ['where: { a: { matches: "a(" } }', '7:28 sources.s.where.a.matches: bad regular expression: unterminated group'],
  [
    "where: { a: { matches: '\\-' } }",
    '7:28 sources.s.where.a.matches: bad regular expression: invalid escape (escape only characters that mean something: write "-", not "\\-")',
  ],
  [
    'where: { a: { matches: "^(?!Total)" } }',
    '7:28 sources.s.where.a.matches: bad regular expression: "(?!" looks ahead (write { not: { matches: … } } in where: patterns here take time in proportion to the text, and that rules it out)',
  ],
  [
    "unpivot: { columns: '^(?<m>.)\\1$', name: a, value: b }",
    '7:25 sources.s.unpivot.columns: bad regular expression: a reference to an earlier group (write out what may stand there: patterns here take time in proportion to the text, and that rules it out)',
  ],
  [
    "skipUntil: 'Konto(?=;)'",
    '7:16 sources.s.skipUntil: bad regular expression: "(?=" looks ahead (match what stands around it too: patterns here take time in proportion to the text, and that rules it out)',
  ],
  [
    'where: { a: {} }',
    '7:14 sources.s.where.a.not: expected one key: matches or not (nest them: { not: { matches: "…" } })',
  ],
  [
    'where: { a: { matches: x, not: y } }',
    '7:36 sources.s.where.a.not: expected one key: matches or not (nest them: { not: { matches: "…" } })',
  ],
  ['where: { a: { matchs: x } }', '7:19 sources.s.where.a.matchs: unknown key "matchs" (did you mean "matches"?)'],
  ['where: { a: [] }', '7:17 sources.s.where.a: the list is empty'],
  ['where: { a: [x, [y]] }', '7:21 sources.s.where.a[1]: expected a text, found a list'],
  [
    'where: { a: { not: { matches: "(" } } }',
    '7:35 sources.s.where.a.not.matches: bad regular expression: unterminated group',
  ],
  [
    'maps: { r: { N: } }',
    '7:18 sources.s.maps.r.N: no value (write a value after the key, "" for the empty text, or remove the line)',
  ],
  [
    'maps: { r: { N: North, S: South, "N ": Norden } }',
    '7:38 sources.s.maps.r["N "]: the keys "N" and "N " are one, with two replacements (white space around a key does not count; keep one of the two)',
  ],
  [
    'maps: { r: { "": None, " ": Nothing } }',
    '7:28 sources.s.maps.r[" "]: the keys "" and " " are one, with two replacements (white space around a key does not count; keep one of the two)',
  ],
  [
    'unpivot: { columns: "[", name: a, value: b }',
    '7:25 sources.s.unpivot.columns: bad regular expression: unterminated character class',
  ],
  [
    'unpivot: { columns: x, name: a, value: a }',
    '7:44 sources.s.unpivot.value: the same column as name (give the new columns different names)',
  ],
  ['unpivot: { columns: x, name: a }', '7:5 sources.s.unpivot.value: "value" is missing'],
  ['drivers: []', '6:14 sources.s.drivers: the list is empty'],
  [
    'drivers: { path: [a] }',
    '6:14 sources.s.drivers: expected a list, found a mapping (write each entry on a line of its own, behind "- ")',
  ],
  ['drivers: [a]', '6:15 sources.s.drivers[0]: expected a mapping, found "a"'],
  [
    'drivers: [{ path: [a], time: "{t}" }]',
    '6:15 sources.s.drivers[0].value: "value" is missing (for example value: "{amount}")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: amount }]',
    '6:48 sources.s.drivers[0].value: a text that names no column, and is not a number: "amount" (if "amount" is a column: write "{amount}")',
  ],
  [
    'drivers: [{ path: [a], time: date, value: "{v}" }]',
    '6:34 sources.s.drivers[0].time: a text that names no column, and is not a time: "date" (if "date" is a column: write "{date}")',
  ],
  [
    'drivers: [{ path: [a], time: { from: "{{t}}", format: yyyy-MM }, value: "{v}" }]',
    '6:42 sources.s.drivers[0].time.from: a text that names no column, and is not a time: "{t}" (if "t" is a column: write "{t}")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "1,5" } }]',
    '6:56 sources.s.drivers[0].value.from: a text that names no column, and is not a number: "1,5" (if "1,5" is a column: write "{1,5}")',
  ],
  [
    'drivers: [{ time: "{t}", value: "{v}" }]',
    '6:15 sources.s.drivers[0].path: "path" is missing (for example path: ["Revenue","{region}"])',
  ],
  [
    'drivers: [{ path: a, time: "{t}", value: "{v}" }]',
    '6:23 sources.s.drivers[0].path: expected a list, found "a" (write a list in brackets, such as ["…"])',
  ],
  ['drivers: [{ path: [], time: "{t}", value: "{v}" }]', '6:23 sources.s.drivers[0].path: the list is empty'],
  [
    'drivers: [{ path: [a, " "], time: "{t}", value: "{v}" }]',
    '6:27 sources.s.drivers[0].path[1]: the template is empty',
  ],
  [
    'drivers: [{ path: [a], time: {t}, value: "{v}" }]',
    '6:34 sources.s.drivers[0].time: braces without quotes are a YAML mapping (quote a text that has braces, such as "{column}")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", scale: 0,01 } }]',
    '6:71 sources.s.drivers[0].value.scale: between braces a comma ends the value, and no key follows here (write a number with a point, such as 10.5%, and put a text that has a comma in quotes)',
  ],
  [
    'maps: { r: { N: Foo, Bar } }',
    '7:24 sources.s.maps.r.N: between braces a comma ends the value, and no key follows here (write a number with a point, such as 10.5%, and put a text that has a comma in quotes)',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", decimal: , group: "." } }]',
    '6:63 sources.s.drivers[0].value.decimal: no value (write a value after the key; where it is a comma, put it in quotes: ",")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: "abc{v|slg}" }]',
    '6:52 sources.s.drivers[0].value: bad template: unknown filter "slg"; there are trim, lower, upper, slug, map:NAME, match:PATTERN, default:TEXT',
  ],
  [
    'drivers: [{ path: [a], time: "\\u0041{t", value: "{v}" }]',
    '6:34 sources.s.drivers[0].time: bad template: a "{" without its "}"; write "{{" for a brace',
  ],
  [
    'drivers: [{ path: ["{a|map:region}"], time: "{t}", value: "{v}" }]',
    '6:24 sources.s.drivers[0].path[0]: unknown map "region" (this source has no maps)',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: "{v}", colapse: sum }]',
    '6:55 sources.s.drivers[0].colapse: unknown key "colapse" (did you mean "collapse"?)',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: "{v}", collapse: total }]',
    '6:65 sources.s.drivers[0].collapse: expected "last", "first", "sum", "average", "min", "max" or "count", found "total"',
  ],
  [
    'drivers: [{ path: [a], time: { from: "{t}", format: dd HH }, value: "{v}" }]',
    '6:57 sources.s.drivers[0].time.format: no month can be read by it: format "dd HH": no year in it (yyyy)',
  ],
  [
    'drivers: [{ path: [a], time: { from: "{t}", format: dd.yyyy }, value: "{v}" }]',
    '6:57 sources.s.drivers[0].time.format: no month can be read by it: format "dd.yyyy": no month in it (MM; mm is the minute)',
  ],
  [
    'drivers: [{ path: [a], time: { from: "{t}", locale: xx }, value: "{v}" }]',
    '6:57 sources.s.drivers[0].time.locale: expected a locale of date-fns such as en, de or en-GB, found "xx"',
  ],
  [
    'drivers: [{ path: [a], time: { from: "{t}", timezone: Mars }, value: "{v}" }]',
    '6:59 sources.s.drivers[0].time.timezone: expected an IANA time zone such as Europe/Berlin or UTC, found "Mars"',
  ],
  [
    'drivers: [{ path: [a], time: { format: iso }, value: "{v}" }]',
    '6:28 sources.s.drivers[0].time.from: "from" is missing (for example from: "{year} {month}")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", group: "." } }]',
    '6:70 sources.s.drivers[0].value.group: the group mark is the decimal mark too (say which mark is the decimal one: decimal: ",")',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", decimal: "’", group: "\'" } }]',
    '6:84 sources.s.drivers[0].value.group: the group mark is the decimal mark too',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", group: ".." } }]',
    '6:70 sources.s.drivers[0].value.group: expected a group mark: one character, but no digit, sign or letter, found ".."',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", group: { mark: " ", sizes: [3, 0] } } }]',
    '6:94 sources.s.drivers[0].value.group.sizes[1]: expected at least 1, found 0',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", decimal: "5" } }]',
    '6:72 sources.s.drivers[0].value.decimal: expected a decimal mark: one character, but no digit, sign, letter or white space, found "5"',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", scale: 1_000 } }]',
    '6:70 sources.s.drivers[0].value.scale: expected a number such as 1000 or 0.001, found "1_000"',
  ],
  [
    'drivers: [{ path: [a], time: "{t}", value: { from: "{v}", scale: 0.0 } }]',
    '6:70 sources.s.drivers[0].value.scale: a scale of 0 makes every value 0',
  ],
];

describe('what is wrong in a source', () => {
  test.each(wrongInASource)('%s', (yaml, problem) => {
    expect(problems(sourceYaml(`    ${yaml}`))).toEqual([problem]);
  });

  test('an unknown type, and everything else that is wrong in the source', () => {
    const yaml = 'destination: emulator\nsources:\n  s: { type: cvs, files: [a], poll: 1, sepaator: x, drivers: [] }\n';
    expect(problems(yaml)).toEqual([
      `3:14 sources.s.type: unknown type of source "cvs" (did you mean "csv"? there are ${Object.keys(kinds).join(', ')})`,
      '3:37 sources.s.poll: expected a duration such as 30s, 20h or 400d, found 1 (write 1s, 1m, 1h or 1d)',
      expect.stringContaining('3:40 sources.s.sepaator: unknown key "sepaator" (known here: '),
      '3:62 sources.s.drivers: the list is empty',
    ]);
  });

  test('what its kind and every source must have', () => {
    expect(problems('destination: emulator\nsources:\n  s: { type: sqlite }\n')).toEqual([
      '3:3 sources.s.file: "file" is missing',
      '3:3 sources.s.query: "query" is missing',
      '3:3 sources.s.drivers: "drivers" is missing',
    ]);
    expect(problems('destination: emulator\nsources:\n  s: { drivers: 3 }\n')).toEqual([
      '3:3 sources.s.type: "type" is missing (for example type: csv)',
      '3:17 sources.s.drivers: expected a list, found 3 (write each entry on a line of its own, behind "- ")',
    ]);
  });

  test('a name that could not be typed in a command', () => {
    const source = '{ type: csv, files: [a], drivers: [{ path: [a], time: "{t}", value: "{v}" }] }';
    expect(problems(`destination: emulator\nsources:\n  rev enue: ${source}\n  -x: ${source}\n`)).toEqual([
      '3:3 sources["rev enue"]: not a name for a source "rev enue" (use letters, digits, ".", "_" and "-", and begin with a letter or digit)',
      '4:3 sources.-x: not a name for a source "-x" (use letters, digits, ".", "_" and "-", and begin with a letter or digit)',
    ]);
  });
});

describe('a key that only another format has', () => {
  test.each([
    ['type: command, command: [x], format: jsonl', 'delimiter: ";"', 'delimiter', 'csv'],
    ['type: command, command: [x], format: tsv', 'delimiter: ";"', 'delimiter', 'csv'],
    ['type: command, command: [x], format: csv', 'items: a.b', 'items', 'json'],
    ['type: command, command: [x], format: json', 'lineEnd: any', 'lineEnd', 'csv or tsv or jsonl'],
    ['type: command, command: [x], format: ndjson', 'skipRows: 2', 'skipRows', 'csv or tsv'],
    ['type: http, url: "https://a.example/x", format: json', 'lineEnd: any', 'lineEnd', 'csv or tsv or jsonl'],
    ['type: http, url: "https://a.example/x", format: csv', 'rows: /1', 'rows', 'json'],
  ])('%s, %s', (source, written, key, formats) => {
    const yaml = (keys: string): string =>
      `destination: emulator\nsources:\n  s: { ${keys}, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }\n`;
    expect(problems(yaml(`${source}, ${written}`))).toEqual([
      expect.stringContaining(`unknown key "${key}" ("${key}" belongs to format: ${formats})`),
    ]);
    expect(problems(yaml(source))).toEqual([]);
  });

  test('is right where an answer may say its format by itself', () => {
    const keys = 'type: http, url: "https://a.example/x", delimiter: ";", items: a';
    const yaml = `destination: emulator\nsources:\n  s: { ${keys}, drivers: [{ path: [a], time: "{t}", value: "{v}" }] }\n`;
    expect(problems(yaml)).toEqual([]);
  });
});

test.each([
  ['excel', 'xlsx'],
  ['mariadb', 'mysql'],
  ['postgresql', 'postgres'],
  ['txt', 'csv'],
])('type: %s is answered with %s', (written, meant) => {
  const yaml = `destination: emulator\nsources: { s: { type: ${written} } }\n`;
  expect(problems(yaml).join()).toContain(`unknown type of source "${written}" (did you mean "${meant}"?`);
});
