import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { load } from '../support/config-world.ts';

const right = `state: data
timezone: Europe/Berlin
schedule: "15 2 * * *"
destination:
  url: https://drivers.example.com
  token: \${TOKEN}
  headers: { X-Key: "\${TOKEN}" }
guard: { maxDeletes: 10%, floor: 5 }
sources:
  a: &a
    type: csv
    files: ["a.csv"]
    where: { b: [x, 012], c: { not: { matches: "^x" } } }
    unpivot: { columns: '^\\d{4}$', name: month, value: amount }
    maps: { r: { N: North } }
    drivers:
      - path: [A, "{b|map:r}"]
        time: { from: "{month}", format: [iso, dd.MM.yyyy], locale: de }
        value: { from: "{amount}", decimal: ",", group: ".", scale: 1000 }
  b: { <<: *a, type: sqlite, file: a.db, query: SELECT 1 }
`;

const pieces = [
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  ':',
  ': ',
  '- ',
  '\n',
  '\n  ',
  '&a ',
  '*a',
  '<<: ',
  '!x ',
  '${',
  '#',
  '\t',
  'null',
  '0',
  'x',
];

/** Places and lengths to cut out, and what to put there. */
const edits = fc.array(fc.tuple(fc.nat(right.length), fc.nat(12), fc.constantFrom('', ...pieces)), {
  minLength: 1,
  maxLength: 4,
});

function damage(changes: readonly (readonly [number, number, string])[]): string {
  return changes.reduce((text, [at, length, piece]) => text.slice(0, at) + piece + text.slice(at + length), right);
}

test('whatever a config is damaged into, it gives settings or says where it is wrong, and keeps its secrets', () => {
  fc.assert(
    fc.property(edits, (changes) => {
      const yaml = damage(changes);
      const lines = yaml.split('\n');
      const { settings, problems } = load(yaml, { env: { TOKEN: 'hunter2' } });
      expect(settings === undefined).toBe(problems.length > 0);
      for (const { line, column, message, hint } of problems) {
        expect(line).toBeLessThanOrEqual(lines.length);
        expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
        expect(`${message} ${hint}`).not.toContain('hunter2');
        expect(message).toMatch(/^[^\n\0]+$/);
      }
    }),
    runsOf(100, 1000),
  );
});
