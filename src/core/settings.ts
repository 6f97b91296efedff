/**
 * The configuration as the agent uses it: parsed once, defaults filled in, paths absolute, secrets still by reference.
 * The words a person writes are in `src/config/`; nothing here is optional unless its absence means something.
 */
import type { Rule } from './model.ts';
import type { Stamp } from './time/month.ts';
import type { DecimalFormat } from './numbers/decimal.ts';
import type { Pattern } from './mapping/pattern.ts';
import type { Template } from './mapping/template.ts';
import type { TimeFormat } from './time/time-format.ts';

/** A share of a whole (`10%`, exact in units of 1/1 000 000), or a count. */
export type Limit =
  | { readonly kind: 'share'; readonly millionths: number }
  | { readonly kind: 'count'; readonly count: number };

export interface Settings {
  /** Absolute path of the config file. */
  readonly file: string;
  /** sha256 (hex) of all settings below, secrets among them: equal for files that differ in comments and layout only. */
  readonly digest: string;
  /** Absolute path of the state directory. */
  readonly state: string;
  /** IANA name. */
  readonly timezone: string;
  /** A cron expression, five or six fields, in `timezone`. */
  readonly schedule: string;
  readonly pushOnChangeMs: number | undefined;
  readonly destination: DestinationSettings | 'emulator';
  readonly shouldDeleteMissing: boolean;
  readonly stamp: Stamp;
  readonly guard: GuardSettings;
  readonly refreshMs: number;
  readonly keepMs: number;
  readonly keepMaxBytes: number;
  /** In the order of the config, which decides between two first reads. */
  readonly sources: readonly SourceSettings[];
}

export interface DestinationSettings {
  /** Without a trailing slash; `/api/extDrivers/update` is appended. */
  readonly url: string;
  readonly token: Secret | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest silence, while sending or waiting, in ms. */
  readonly timeoutMs: number;
  readonly compress: 'none' | 'gzip';
  /** Absolute path of a PEM file with further authorities. */
  readonly caFile: string | undefined;
}

export type Secret =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly file: string };

export interface GuardSettings {
  readonly maxDeletes: Limit;
  readonly floor: number;
  /** `undefined`: the default, which is 1% and 0 for a source with a sum, average or count. */
  readonly maxRejects: Limit | undefined;
  readonly firstPush: 'allow' | 'approve';
}

export interface SourceSettings {
  readonly name: string;
  /** Registered in `src/sources/index.ts`. */
  readonly type: string;
  /** What that kind's own schema made of its keys. */
  readonly kind: unknown;
  readonly poll: Poll;
  readonly timeoutMs: number;
  readonly removed: 'carry' | 'delete';
  readonly history: 'replace' | 'carry';
  readonly mayBeEmpty: boolean;
  readonly mapping: Mapping;
  readonly lookups: LookupFiles;
  readonly tests: readonly SourceTest[];
  /** sha256 (hex) of the source's config as written, after substitution, and the timezone: another one reads again. */
  readonly digest: string;
}

/** When a source is looked at again, events or not. */
export type Poll =
  | { readonly kind: 'every'; readonly ms: number }
  /** A cron expression in the agent's `timezone`. */
  | { readonly kind: 'cron'; readonly expression: string };

/** Tables beside a source that its mapping needs, read anew with it. Paths are as written, relative to the config file. */
export interface LookupFiles {
  readonly maps: Readonly<Record<string, MapFile>>;
  readonly calendar: LookupFile | undefined;
}

export interface LookupFile {
  readonly file: string;
  /** `undefined`: a comma, or a tab for `.tsv`. */
  readonly delimiter: string | undefined;
  readonly encoding: string;
  /** How long it must have been quiet, in ms. */
  readonly settle: number;
}

export interface MapFile extends LookupFile {
  /** Columns of it; `undefined`: the first and the second. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Every month of a longer period has its value, or its first or last one has it, or each has an equal share. */
export type Spread = 'repeat' | 'first' | 'last' | 'divide';

/** Rows as the place would give them, and the readings that have to come out. */
export interface SourceTest {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly readings: readonly ExpectedReading[];
  /** How many of the rows are rejected. */
  readonly rejects: number;
}

export interface ExpectedReading {
  readonly driver: string;
  /** `2026-03` */
  readonly month: string;
  readonly value: string;
  readonly path?: readonly string[] | undefined;
}

/** How rows become readings. */
export interface Mapping {
  readonly where: readonly Condition[];
  /** Texts of `value`, trimmed, that mean "no value". */
  readonly missing: readonly string[];
  /** Columns whose empty fields take the text of the row above. */
  readonly fillDown: readonly string[];
  readonly unpivot: Unpivot | undefined;
  readonly maps: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly drivers: readonly DriverEntry[];
}

/** Wide rows to long ones. Named groups of the pattern become columns beside `name` and `value`. */
export interface Unpivot {
  readonly columns: Pattern;
  /** The new column that holds the header of each. */
  readonly name: string | undefined;
  /** The new columns that hold its fields. With several, the pattern's group `value` says which one a header is of. */
  readonly value: readonly string[];
}

export interface Condition {
  readonly column: string;
  readonly test: Test;
}

export type Test =
  | { readonly kind: 'oneOf'; readonly texts: readonly string[] }
  | { readonly kind: 'matches'; readonly pattern: Pattern }
  | { readonly kind: 'not'; readonly test: Test };

export interface DriverEntry {
  /** `undefined`: the path joined with `/`. */
  readonly id: Template | undefined;
  readonly path: readonly Template[];
  readonly time: { readonly from: Template; readonly format: TimeFormat };
  readonly value: { readonly from: Template; readonly format: DecimalFormat };
  /** What becomes of a value that is of a quarter or a year; `undefined`: its times name months or days. */
  readonly spread: Spread | undefined;
  readonly rule: Rule;
}
