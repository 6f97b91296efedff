import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderReference } from '../support/config-reference.ts';
import { editorSchema, jsonSchema } from '../../src/config/json-schema.ts';
import { parseDuration } from '../../src/core/duration.ts';
import { kinds } from '../../src/sources/index.ts';
import { problems } from '../support/config-world.ts';

const docs = readFileSync(new URL('../../docs/CONFIG.md', import.meta.url), 'utf8');

interface Node {
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly anyOf?: readonly Node[];
  readonly const?: unknown;
}

describe('the JSON Schema', () => {
  const schema = jsonSchema() as Node;
  const sources = schema.properties?.['sources']?.additionalProperties?.anyOf ?? [];

  test('has one form of a source per kind, with its own keys and those of all', () => {
    expect(sources.map(({ properties }) => properties?.['type']?.const)).toEqual(Object.keys(kinds));
    expect(Object.keys(sources[0]?.properties ?? {})).toEqual(expect.arrayContaining(['files', 'delimiter', 'poll']));
    const sqlite = sources[Object.keys(kinds).indexOf('sqlite')];
    expect(Object.keys(sqlite?.properties ?? {})).not.toContain('files');
    expect(sqlite?.required).toEqual(expect.arrayContaining(['type', 'file', 'query', 'drivers']));
  });

  test('knows defaults as a person writes them, and what is required', () => {
    expect(schema.required).toEqual(['destination', 'sources']);
    expect(schema.properties?.['refresh']?.default).toBe('20h');
    expect(schema.properties?.['keepMax']?.default).toBe('10GB');
  });

  test('offers no key that the agent does not know', () => {
    for (const key of Object.keys(schema.properties ?? {})) {
      expect(problems(`${key}: ''\n`).filter((problem) => problem.includes('unknown key'))).toEqual([]);
    }
    expect(problems("page: '127.0.0.1:9464'\n")).toContainEqual(expect.stringContaining('unknown key "page"'));
    expect(schema.properties).not.toHaveProperty('page');
  });

  test('describes every key', () => {
    const undescribed = (node: Node, at: string): string[] => [
      ...Object.entries(node.properties ?? {}).flatMap(([key, inner]) => [
        ...(inner.description === undefined ? [`${at}.${key}`] : []),
        ...undescribed(inner, `${at}.${key}`),
      ]),
      ...(node.anyOf ?? []).flatMap((inner) => undescribed(inner, at)),
      ...(typeof node.additionalProperties === 'object' ? undescribed(node.additionalProperties, at) : []),
    ];
    expect(undescribed(schema, '')).toEqual([]);
  });
});

test('the example of docs/CONFIG.md is right, to the agent and to an editor', () => {
  const [, example = ''] = /```yaml\n([^]*?)```/.exec(docs) ?? [];
  expect(problems(example, { env: { DRIVERS_TOKEN: 'abc' } })).toEqual([]);
  const schema = z.fromJSONSchema(editorSchema() as z.core.JSONSchema.JSONSchema);
  expect(schema.safeParse(parse(example)).error).toBeUndefined();
  expect(schema.safeParse(parse(example.replace('drivers:', 'driver:'))).success).toBe(false);
});

describe('an editor takes what the agent reads', () => {
  const schema = z.fromJSONSchema(editorSchema() as z.core.JSONSchema.JSONSchema);
  const entry = '{ path: [2024, a], time: "{t}", value: "{v}" }';
  const config = (top: string, own = '', drivers = entry): string =>
    `destination: emulator\n${top}\nsources:\n  s:\n    type: csv\n    files: [a.csv, 2026]\n    drivers: [${drivers}]\n    ${own}\n`;
  const variables = { N: '5', YES: 'true', RULE: 'sum', KEEP: '10GB' };

  test.each([
    config('keepMax: 10gb'),
    config('keepMax: " 10 Mib "'),
    config('keep: " 400d "'),
    config('guard: { maxRejects: 50 % }'),
    config('guard: { maxDeletes: "10.5 % " }'),
    config('guard: { floor: "${N}", firstPush: "${F:-allow}" }'),
    config('keepMax: ${KEEP}'),
    config('workers: ${N}'),
    config('state: 2026'),
    config('state: true'),
    config('', 'missing: [NA, null, 0]'),
    config('', 'where: { account: { matches: 4400 }, year: 2026 }'),
    config('', 'fillDown: [2026]'),
    config('', 'mayBeEmpty: ${YES}'),
    config('', 'comment: 5'),
    config('', 'skipRows: ${N}'),
    config('', 'maps: { r: { 1: 2 }, f: { file: r.csv, from: 1 } }'),
    config(
      '',
      '',
      '{ path: [1], time: "{t}", collapse: "${RULE}", value: { from: "{v}", negate: "${YES}", round: "${N}" } }',
    ),
    config('', 'tests: [{ rows: [{ t: 2026-01-01, v: null }], readings: [], rejects: 1 }]'),
  ])('%s', (yaml) => {
    expect(problems(yaml, { env: variables, files: { 'a.csv': '' } })).toEqual([]);
    expect(schema.safeParse(parse(yaml)).error).toBeUndefined();
  });

  test('and nothing that is no value of its key', () => {
    const refused = [
      'guard: { floor: five }',
      'guard: { values: maybe }',
      'keepMax: 10',
      'state: [a]',
      'workers: true',
    ];
    for (const top of refused) {
      expect(problems(config(top))).not.toEqual([]);
      expect(schema.safeParse(parse(config(top))).success).toBe(false);
    }
  });
});

describe('an editor', () => {
  const schema = z.fromJSONSchema(editorSchema() as z.core.JSONSchema.JSONSchema);
  const drivers = [{ path: ['a'], time: '{t}', value: '{v}' }];
  const isRight = (defaults: object | undefined, source: object): boolean =>
    schema.safeParse({ destination: 'emulator', ...(defaults && { defaults }), sources: { s: source } }).success;

  test('asks a source for its required keys', () => {
    expect(isRight(undefined, { type: 'csv', files: ['a'], drivers })).toBe(true);
    expect(isRight(undefined, { type: 'csv', files: ['a'] })).toBe(false);
    expect(isRight(undefined, { type: 'csv', drivers })).toBe(false);
    expect(isRight(undefined, { files: ['a'], drivers })).toBe(false);
  });

  test('knows no other keys at the top', () => {
    const sources = { s: { type: 'csv', files: ['a'], drivers } };
    expect(schema.safeParse({ destination: 'emulator', sources }).success).toBe(true);
    expect(schema.safeParse({ destination: 'emulator', sources, sorces: {} }).success).toBe(false);
    expect(schema.safeParse({ destination: 'emulator', defaults: {}, sources, sorces: {} }).success).toBe(false);
  });

  test('asks no source for what defaults may supply, and knows its keys all the same', () => {
    expect(isRight({ drivers }, { type: 'csv', files: ['a'] })).toBe(true);
    expect(isRight({ type: 'csv', drivers }, { files: ['a'] })).toBe(true);
    expect(isRight({ drivers }, { type: 'csv', fils: ['a'] })).toBe(false);
    expect(isRight({ drivers }, { type: 'sqlite', files: ['a'] })).toBe(false);
  });
});

test('docs/CONFIG.md is up to date; if not: node test/support/update-config-reference.ts', () => {
  expect(docs).toContain(`<!-- reference -->\n\n${renderReference()}\n\n<!-- /reference -->`);
});

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['0s', 0],
    [' 1m ', 60_000],
    ['20h', 72_000_000],
    ['36525d', 3_155_760_000_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '30', 's', '-1s', '1.5h', '1h30m', '30 s', '1e3s', '36526d', '999999999999999999999d', '1M'])(
    '%j is none',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});
