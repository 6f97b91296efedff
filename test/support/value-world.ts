/** A source of monthly values whose next read holds a slip, and what a pass says of it. */
import type { Finding } from '../../src/core/values/finding.ts';
import { type TestWorld, months, sourceOf, world } from './world.ts';

/** Values of drivers by their path, such as `Sales / North`. */
export type Values = Record<string, Record<string, string>>;

const drivers = [{ id: '{id|slug}', path: ['{group}', '{name}'], time: '{time}', value: '{value}' }];

/** Reads `sales.csv`. */
export const valueSource = { type: 'csv', files: ['sales.csv'], settle: '0s', drivers };

/** Two years of values that no two drivers and no two months share, in two groups. */
export function twoYears(names: readonly string[], first = 1, last = 24): Values {
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      Object.fromEntries(
        months(first, last).map((month, at) => {
          const value = 100 + index * 37 + (first + at) * 3 + ((index * 7 + (first + at) * 11) % 13);
          return [month, `${value}.${String(((index * 31 + (first + at) * 17) % 90) + 10)}`];
        }),
      ),
    ]),
  );
}

/** `Sales / A01`, `Sales / A02` and so on. */
export function named(group: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${group} / ${group[0]}${String(index + 1).padStart(2, '0')}`);
}

/** Every value of some drivers, changed. */
export function changed(
  values: Values,
  change: (value: string, month: string) => string,
  only: (name: string) => boolean = () => true,
): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, points]) => [
      name,
      only(name)
        ? Object.fromEntries(Object.entries(points).map(([month, value]) => [month, change(value, month)]))
        : points,
    ]),
  );
}

/** Both, the second over the first. */
export function merged(one: Values, other: Values): Values {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, { ...one[name], ...other[name] }]));
}

/** A value with its decimal point moved to the right. */
export function timesTen(value: string, power: number): string {
  const [whole = '', fraction = ''] = value.split('.');
  const digits = fraction.padEnd(power, '0');
  const text = `${whole}${digits.slice(0, power)}`.replace(/^(-?)0+(?=\d)/, '$1');
  return digits.length > power ? `${text}.${digits.slice(power)}` : text;
}

export function negated(value: string): string {
  return value.startsWith('-') ? value.slice(1) : `-${value}`;
}

/** The text of a file of these values for `valueSource`. */
export function valueFile(values: Values): string {
  const rows = Object.entries(values).flatMap(([path, points]) => {
    const [group, name] = path.split(' / ');
    return Object.entries(points).map(([month, value]) => `${path},${group},${name},${month},${value}`);
  });
  return `id,group,name,time,value\n${rows.join('\n')}\n`;
}

/** A world in which these values are accepted and pushed. */
export async function accepted(values: Values, keys: object = {}, source: object = {}): Promise<ValueWorld> {
  const config = { ...keys, sources: { sales: { ...valueSource, ...source } } };
  const w = await world({ config, files: { 'sales.csv': valueFile(values) } });
  await w.sync();
  return Object.assign(w, {
    /** Writes a newer read. */
    export: (next: Values) => w.write('sales.csv', valueFile(next)),
    /** What a pass comes to: the state of the source, and what was found. */
    pass: async () => {
      const report = await w.sync();
      const { state, reason, digest, findings = [], warnings } = sourceOf(report, 'sales');
      return { state, reason, digest, findings, warnings, exit: report.exit };
    },
  });
}

export interface ValueWorld extends TestWorld {
  export(next: Values): Promise<void>;
  pass(): Promise<{
    readonly state: string;
    readonly reason: string | undefined;
    readonly digest: string | undefined;
    readonly findings: readonly Finding[];
    readonly warnings: readonly string[];
    readonly exit: number;
  }>;
}
