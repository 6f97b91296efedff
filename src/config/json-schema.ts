/** The config's keys: their types, defaults and descriptions. The editor's schema and docs/CONFIG.md are made of this. */
import { z } from 'zod';
import { kinds } from '../sources/index.ts';
import { destinationShape, guardShape, notifyShape, rootShape, statusShape } from './agent-keys.ts';
import { ledgerShape } from './ledger-keys.ts';
import { driverShape, sourceShape, timeShape, valueShape } from './source-keys.ts';
import { template } from './scalars.ts';

/** The keys that only a kind of source has. */
export function kindShape(type: string): Readonly<Record<string, z.ZodType>> {
  const schema = kinds[type]?.schema;
  return schema instanceof z.ZodObject ? schema.shape : {};
}

const homes: readonly (readonly [string, object])[] = [
  [
    'at the top level',
    { ...rootShape, destination: 0, guard: 0, defaults: 0, ledger: 0, notify: 0, sources: 0, status: 0 },
  ],
  ['under destination', destinationShape],
  ['under guard', guardShape],
  ['under an entry of notify', notifyShape],
  ['under status', statusShape],
  ['under ledger', ledgerShape],
  ['under a source', { ...sourceShape, type: 0, drivers: 0 }],
  ['under an entry of drivers', driverShape],
  ['under time', timeShape],
  ['under value', valueShape],
];

/** Where a key belongs, such as `under destination`; `undefined` for an unknown key. */
export function homeOf(key: string): string | undefined {
  const places = homes.flatMap(([place, shape]) => (Object.hasOwn(shape, key) ? [place] : []));
  return places.length === 0 ? undefined : places.join(' or ');
}

const driverSchema = z.strictObject({
  ...driverShape,
  time: z
    .union([template, z.strictObject(timeShape)])
    .meta({ description: 'The time of a value: a template, or a mapping of its parts.', examples: ['{date}'] }),
  value: z
    .union([template, z.strictObject(valueShape)])
    .meta({ description: 'The value: a template, or a mapping of its parts.', examples: ['{amount}'] }),
});

const entries = z.array(driverSchema).min(1).describe('Entries of drivers: each row gives one reading for each entry.');

function sourceSchema(type: string): z.ZodType {
  return z
    .strictObject({
      type: z.literal(type).describe('The kind of source.'),
      ...kindShape(type),
      ...sourceShape,
      drivers: kinds[type]?.drivers === undefined ? entries : entries.optional(),
    })
    .meta({ title: `a source of type ${type}` });
}

interface SourceForm {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

interface ConfigForm {
  readonly properties: {
    readonly sources: { readonly additionalProperties: { readonly anyOf: readonly SourceForm[] } };
  };
}

/** A value of the JSON Schema, as far as `widened` looks at it. */
interface Form {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly pattern?: unknown;
  readonly const?: unknown;
}

const oneOfValues = new Set(['integer', 'number', 'boolean']);

/**
 * What is read from the file is a text where a text is expected, also where YAML sees a number in it; and a variable may stand
 * in the place of any value.
 */
function widened(form: unknown): unknown {
  if (Array.isArray(form)) return form.map(widened);
  if (typeof form !== 'object' || form === null) return form;
  const { type, enum: words, pattern, const: only }: Form = form;
  if (only !== undefined) return form;
  if (words !== undefined || oneOfValues.has(String(type))) {
    const { description, default: usual, examples, ...value } = form as Record<string, unknown>;
    const told = { description, default: usual, examples };
    return { ...told, anyOf: [value, { type: 'string', pattern: '\\$\\{' }] };
  }
  const inner = Object.entries(form).map(([key, value]) => [key, isShown.has(key) ? value : widened(value)] as const);
  const isText = type === 'string' && pattern === undefined;
  return { ...Object.fromEntries(inner), ...(isText ? { type: ['string', 'number', 'boolean'] } : {}) };
}

/** What is shown to a person and says nothing of forms. */
const isShown = new Set(['default', 'examples', 'required']);

/** `jsonSchema` for editors: a source is asked for its required keys only where no `defaults` may supply them. */
export function editorSchema(): object {
  const schema = widened(jsonSchema()) as ConfigForm;
  const { sources } = schema.properties;
  const forms = sources.additionalProperties.anyOf;
  const relaxed = forms.map(({ required: _required, ...form }) => form);
  const strict = forms.map(({ properties, required }) => ({
    type: 'object',
    properties: Object.fromEntries(required.map((key) => [key, key === 'type' ? properties['type'] : {}])),
    required,
  }));
  const ofSources = (anyOf: readonly object[]): object => ({ type: 'object', additionalProperties: { anyOf } });
  // Each form names every key: some validators take a key as known that one of them does not refuse.
  const known = Object.fromEntries(Object.keys(schema.properties).map((key) => [key, {}]));
  return {
    ...schema,
    properties: { ...schema.properties, sources: { ...sources, additionalProperties: { anyOf: relaxed } } },
    anyOf: [
      { type: 'object', properties: { ...known, sources: ofSources(strict) }, additionalProperties: false },
      { type: 'object', properties: known, required: ['defaults'], additionalProperties: false },
    ],
  };
}

/** The JSON Schema (draft 2020-12) of what a person writes. */
export function jsonSchema(): object {
  const destination = z.strictObject(destinationShape).meta({ title: 'a service' });
  const schema = z.strictObject({
    ...rootShape,
    destination: z
      .union([z.literal('emulator'), destination])
      .describe('Where snapshots are pushed to; `emulator` starts the embedded emulator and prints its address.'),
    guard: z.strictObject(guardShape).optional().describe('When a read is held instead of accepted.'),
    notify: z
      .array(z.strictObject(notifyShape))
      .optional()
      .describe('Who is told of what is wrong: once when it starts and once when it is over.'),
    defaults: z
      .looseObject(z.object(sourceShape).partial().shape)
      .optional()
      .describe(
        'What all sources share: any keys of sources, such as `timeout`, `encoding`, `maps` or `drivers`. A source that writes a key itself has that; a key that its type does not know is left out. An editor that knows the schema of this config asks no source for required keys beside it; `check` does.',
      ),
    status: z
      .union([z.literal('off'), statusShape.listen, z.strictObject(statusShape).meta({ title: 'a status page' })])
      .optional()
      .describe(
        'The status page and what monitoring asks: `127.0.0.1:9464`, or a mapping with `listen`. See STATUS.md. Default: off.',
      ),
    ledger: z
      .union([ledgerShape.url, z.strictObject(ledgerShape).meta({ title: 'a shared ledger' })])
      .optional()
      .describe(
        'A PostgreSQL database (12 or newer) that keeps the ledger and the archive for agents on several machines, of which one pushes and the others take over: its url, or a mapping. See MACHINES.md. Default: the state directory keeps them, for one agent.',
      ),
    sources: z
      .record(z.string(), z.union(Object.keys(kinds).map(sourceSchema)))
      .describe('The places that are read, by names of your own.'),
  });
  const made = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema: node }) => {
      // zod leaves these out of schemas that transform, but ours describe what is written.
      const examples = z.globalRegistry.get(zodSchema)?.examples;
      if (Array.isArray(examples)) node.examples = examples;
      if (zodSchema instanceof z.ZodDefault) node.default = zodSchema.def.defaultValue;
      if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
    },
  });
  return { title: 'the configuration of driver-sync', ...made };
}
