import { describe, expect, test } from 'vitest';
import { problems, settings } from '../support/config-world.ts';

const drivers = 'drivers: [{ path: [a], time: "{t}", value: "{v}" }]';

function configOf(defaults: string, sources: string): string {
  return `destination: emulator\ndefaults: ${defaults}\nsources:\n${sources}`;
}

describe('defaults', () => {
  test('give each source the keys that it does not write itself', () => {
    const { sources } = settings(
      configOf(
        `{ type: csv, timeout: 1m, poll: "@daily", encoding: windows-1252, missing: ["-"], ${drivers} }`,
        '  a: { files: [a.csv] }\n  b: { files: [b.csv], timeout: 2m, missing: [""] }\n',
      ),
    );
    const common = { type: 'csv', poll: { kind: 'cron', expression: '0 0 * * *' } };
    expect(sources).toMatchObject([
      { ...common, name: 'a', timeoutMs: 60_000, kind: { encoding: 'windows-1252' }, mapping: { missing: ['-'] } },
      { ...common, name: 'b', timeoutMs: 120_000, kind: { encoding: 'windows-1252' }, mapping: { missing: [''] } },
    ]);
  });

  test('leave out what the type of a source does not know', () => {
    const sources = `  a: { type: csv, files: [a.csv] }\n  b: { type: sqlite, file: b.db, query: SELECT 1 }\n`;
    expect(problems(configOf(`{ delimiter: ";", ${drivers} }`, sources))).toEqual([]);
  });

  test('leave out what the format of a source does not have', () => {
    const sources = `  a: { command: [a], format: csv }\n  b: { command: [b] }\n`;
    const yaml = configOf(`{ type: command, format: json, delimiter: ";", items: x, ${drivers} }`, sources);
    const [a, b] = settings(yaml).sources.map(({ kind }) => kind);
    expect(a).toMatchObject({ format: 'csv', delimiter: ';' });
    expect(a).not.toHaveProperty('items');
    expect(b).toMatchObject({ format: 'json', delimiter: ',', items: ['x'] });
  });

  test('are read again by the sources that have them, and by no other', () => {
    const digests = (timeout: string): string[] =>
      settings(
        configOf(
          `{ timeout: ${timeout}, ${drivers} }`,
          '  a: { type: csv, files: [a.csv] }\n  b: { type: csv, files: [b.csv], timeout: 9m }\n',
        ),
      ).sources.map(({ digest }) => digest);
    const [before, after] = [digests('1m'), digests('2m')];
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  test('are blamed where they stand, once for all sources', () => {
    const yaml = `destination: emulator
defaults:
  timeout: soon
  ${drivers}
sources:
  a: { type: csv, files: [a.csv] }
  b: { type: csv, files: [b.csv] }
`;
    expect(problems(yaml)).toEqual([expect.stringMatching(/^3:12 sources\.a\.timeout: /)]);
  });

  test.each([
    ['{ tiemout: 1m }', /^2:13 defaults\.tiemout: unknown key .*did you mean "timeout"/],
    ['[timeout]', /^2:11 defaults: expected a mapping/],
  ])('are refused where they are none: %s', (written, problem) => {
    const yaml = configOf(written, `  a: { type: csv, files: [a.csv], ${drivers} }\n`);
    expect(problems(yaml)).toEqual([expect.stringMatching(problem)]);
  });

  test('may name variables like any other place', () => {
    const yaml = configOf(`{ timeout: "\${T}", ${drivers} }`, '  a: { type: csv, files: [a.csv] }\n');
    expect(problems(yaml)).toEqual([expect.stringContaining('the environment variable T is not set')]);
    expect(settings(yaml, { secrets: 'optional' }).sources[0]).toMatchObject({ timeoutMs: 300_000 });
    expect(settings(yaml, { env: { T: '3m' } }).sources[0]).toMatchObject({ timeoutMs: 180_000 });
  });
});
