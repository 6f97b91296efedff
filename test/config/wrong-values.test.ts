/** Every key of the config with values that do not belong there: what is said of each can be read. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonSchema } from '../../src/config/json-schema.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { isCampaign } from '../support/campaign.ts';
import { directory } from '../support/config-world.ts';

type Step = string | number;

interface Form {
  readonly anyOf?: readonly Form[];
  readonly oneOf?: readonly Form[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly additionalProperties?: Form | boolean;
  readonly items?: Form;
  readonly required?: readonly string[];
  readonly const?: unknown;
}

const wrong: readonly unknown[] = [42, null, 'xyz', [], ['xyz'], { a: 1 }];

const entry = { id: '{id}', path: ['{id}'], time: '{t}', value: '{v}' };
const source = { type: 'csv', files: ['a.csv'], drivers: [entry] };
const right = { destination: { url: 'http://127.0.0.1:1' }, sources: { s: source } };

/** The paths of all keys that a schema knows; `k` is one of the user's own. */
function* pathsOf(form: Form, at: readonly Step[] = []): Generator<readonly Step[]> {
  if (at.length > 0) yield at;
  const { properties = {}, items, additionalProperties: own } = form;
  for (const one of [...(form.anyOf ?? []), ...(form.oneOf ?? [])]) yield* pathsOf(one, at);
  for (const [key, inner] of Object.entries(properties)) yield* pathsOf(inner, [...at, key]);
  if (items !== undefined) yield* pathsOf(items, [...at, 0]);
  if (typeof own === 'object' && at.length > 0) yield* pathsOf(own, [...at, 'k']);
}

function put(into: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') return [put(Array.isArray(into) ? into[step] : undefined, rest, value)];
  const map =
    typeof into === 'object' && into !== null && !Array.isArray(into) ? (into as Record<string, unknown>) : {};
  return { ...map, [step]: put(map[step], rest, value) };
}

interface Place {
  readonly config: object;
  readonly at: readonly Step[];
}

function* places(): Generator<Place> {
  const { sources = {}, ...top } = (jsonSchema() as { properties: Record<string, Form> }).properties;
  const kinds = typeof sources.additionalProperties === 'object' ? (sources.additionalProperties.anyOf ?? []) : [];
  // What stands below `defaults` is read with the sources, and said of them.
  const { defaults: _shared, ...own } = top;
  for (const at of pathsOf({ properties: own })) yield { config: right, at };
  const told = new Set<string>();
  for (const { properties = {} } of kinds) {
    const config = put(right, ['sources', 's', 'type'], properties['type']?.const) as object;
    // Keys that kinds share are the same schema.
    const fresh = Object.entries(properties).filter(([key, form]) => !told.has(key + JSON.stringify(form)));
    for (const [key, form] of fresh) told.add(key + JSON.stringify(form));
    for (const at of pathsOf({ properties: Object.fromEntries(fresh) })) yield { config, at: ['sources', 's', ...at] };
  }
}

const all = [...new Map([...places()].map((place) => [JSON.stringify(place), place])).values()];

/** The problems of a place with one value, as `check` prints them. */
function said(): (place: Place, value: unknown) => readonly string[] {
  const file = path.join(directory(), 'driver-sync.yaml');
  return ({ config, at }, value) => {
    writeFileSync(file, JSON.stringify(put(config, at, value)));
    const loaded: LoadedConfig = loadConfig(file, { env: {}, secrets: 'required' });
    return loaded.problems.map(({ message, hint = '' }) => `${message} | ${hint}`);
  };
}

describe('a value that does not belong where it stands', () => {
  test('is told in words that a person can read, at every key', () => {
    expect(all.length).toBeGreaterThan(150);
    const tell = said();
    const odd =
      /\b(\w+) \1\b|undefined|NaN|\[object|not a value that fits|another type of|\bmust be\b|unknown type of source a /;
    // One place after the other gets other ones of the wrong values.
    const some = isCampaign ? wrong.length : 2;
    const wrongAt = (at: number): readonly unknown[] =>
      Array.from({ length: some }, (_, i) => wrong[(at + (i * wrong.length) / some) % wrong.length]);
    const seen = new Set(all.flatMap((place, at) => wrongAt(at).flatMap((value) => tell(place, value))));
    expect(seen.size).toBeGreaterThan(100);
    expect([...seen].filter((one) => odd.test(one))).toEqual([]);
  });

  test('a null is no text of four letters, but in `missing`, where the text of a cell stands', () => {
    const tell = said();
    const taken = all.filter((place) => tell(place, null).length === 0);
    expect(taken.map(({ at }) => at.slice(2).join('.')).toSorted()).toEqual(['missing.0']);
  });
});
