/** Values that a JSON Schema allows, and values that are off by a little: the same for the same seed. */

import { Dice as EmulatorDice } from '../../src/emulator/dice.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Chances with what tests draw. */
export class Dice extends EmulatorDice {
  /** A whole number from `min` to `max`. */
  from(min: number, max: number): number {
    return min + Math.floor(this.roll() * (max - min + 1));
  }

  isBelow(share: number): boolean {
    return this.roll() < share;
  }

  one<Value>(values: readonly Value[]): Value {
    return values[this.from(0, values.length - 1)] as Value;
  }
}

const words = [
  'waves',
  'a woman talks, no text',
  'é',
  '日本',
  '👍',
  ' ',
  '"quoted"',
  String.raw`\u0000`,
  'a\nb',
  '-1',
  '0',
];

/** Values that no field expects. */
const oddities = [null, true, 0, -1, 1.5, 1e308, '', 'x', [], {}, '\ud800', '__proto__', 'a'.repeat(10_000), [[[]]]];

/** A value of this schema. */
export function valueOf(schema: JsonSchema, dice: Dice): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return dice.one(schema.enum);
  if (schema.examples !== undefined) return dice.one(schema.examples);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return valueOf(dice.one(alternatives), dice);
  switch (dice.one([schema.type ?? 'null'].flat())) {
    case 'object':
      return objectOf(schema, dice);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      return Array.from({ length: dice.from(minItems, Math.min(maxItems, minItems + 3)) }, () => valueOf(items, dice));
    }
    case 'string':
      return textOf(schema, dice);
    case 'integer':
      return Math.floor(numberOf(schema, dice));
    case 'number':
      return dice.isBelow(0.7) ? Math.floor(numberOf(schema, dice)) : numberOf(schema, dice);
    case 'boolean':
      return dice.isBelow(0.5);
    default:
      return null;
  }
}

/** Changes one place of a value, so that it may no longer be what the schema allows. */
export function spoilt(value: unknown, dice: Dice): unknown {
  if (typeof value !== 'object' || value === null || dice.isBelow(0.2)) return dice.one(oddities);
  const entries = Object.entries(value);
  if (entries.length === 0 || dice.isBelow(0.1)) return { ...value, unknown: dice.one(oddities) };
  const [key, member] = dice.one(entries);
  if (Array.isArray(value)) return value.toSpliced(Number(key), 1, spoilt(member, dice));
  if (dice.isBelow(0.2)) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return { ...value, [key]: spoilt(member, dice) };
}

function objectOf({ properties = {}, required = [] }: JsonSchema, dice: Dice): object {
  const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || dice.isBelow(0.35));
  return Object.fromEntries(chosen.map(([name, schema]) => [name, valueOf(schema, dice)]));
}

function numberOf({ minimum, exclusiveMinimum, maximum }: JsonSchema, dice: Dice): number {
  const min = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  const max = Math.min(maximum ?? min + 1_000, min + 1_000);
  if (dice.isBelow(0.2)) return dice.one([min, max]);
  return min + dice.roll() * (max - min);
}

const textsByPattern: readonly (readonly [part: string, texts: (dice: Dice) => string])[] = [
  ['[a-z][a-z0-9_-]', (dice) => dice.one(['a', 'b', 'c', 'd-e', 'f_0'])],
  ['-?\\d+(', (dice) => dice.one(['0', '-12.50', '1234567890123456789.99', '7'])],
  ['-?\\d+', (dice) => dice.one(['0', '1675738308', '-86400', '1675738308000', '1672531200'])],
  ['\\d{1,5}:', (dice) => dice.one(['16:9', '1:1', '9:16'])],
  ['\\d{1,5}[pk]', (dice) => dice.one(['720p', '4k'])],
  // Of a date.
  ['-02-29', (dice) => dice.one(['2026-11-23', '2026-12-01', '0000-01-01', '9999-12-31', '2024-02-29'])],
];

function textOf({ pattern = '', format, minLength = 0, maxLength = 100 }: JsonSchema, dice: Dice): string {
  if (format === 'date') return dice.one(['2026-11-23', '2026-12-01', '0000-01-01', '9999-12-31', '2024-02-29']);
  const known = textsByPattern.find(([part]) => pattern.includes(part));
  if (known !== undefined) return known[1](dice);
  const length = dice.isBelow(0.05) ? maxLength : dice.from(minLength, Math.min(maxLength, minLength + 40));
  let text = '';
  while (text.length < length) text += dice.one(words);
  return text.slice(0, Math.max(length, minLength)).toWellFormed();
}
