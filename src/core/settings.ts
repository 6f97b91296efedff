/**
 * The configuration as the agent uses it: parsed, with its defaults and absolute paths. Secrets are still references, read when
 * they are needed. How a person writes all this is in `src/config/`.
 */
import type { Month, Rule } from './model.ts';
import type { Stamp } from './time/month.ts';
import type { DecimalFormat } from './numbers/decimal.ts';
import type { Pattern } from './mapping/pattern.ts';
import type { Template } from './mapping/template.ts';
import type { TimeFormat } from './time/time-format.ts';
import type { NoticeEvent } from './telling/notice.ts';

/** A share of a whole (`10%`, exact in units of 1/1 000 000), or a count. */
export type Limit =
  | { readonly kind: 'share'; readonly millionths: number }
  | { readonly kind: 'count'; readonly count: number };

export interface Settings {
  /** Absolute path of the config file. */
  readonly file: string;
  /** sha256 (hex) of all settings below, secrets among them: equal for files that differ in comments and layout only. */
  readonly digest: string;
  /** The same of the file as it is written, without the values of its variables. */
  readonly writtenDigest: string;
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
  /** Up to when months are closed; `undefined`: none is. */
  readonly lastClose: LastClose | undefined;
  /** How many threads read a large file; `undefined`: none, the main one does. */
  readonly workers: number | undefined;
  readonly refreshMs: number;
  readonly keepMs: number;
  readonly keepMaxBytes: number;
  /** Who is told of what is wrong. */
  readonly notify: readonly ChannelSettings[];
  /** An address that is fetched after every pass that left the service right. As secret as a password. */
  readonly heartbeat: string | undefined;
  /** Who is told besides, at an address that stands in a variable which is not set. Only commands that need no variables see any. */
  readonly unaddressed: { readonly notify: readonly Pick<ChannelSettings, 'on'>[]; readonly heartbeat: boolean };
  /** Where the status page listens; `undefined`: there is none. */
  readonly status: StatusSettings | undefined;
  /** Where agents of several machines keep ledger and archive; `undefined`: the state directory does, for one agent. */
  readonly ledger: LedgerSettings | undefined;
  /** In the order of the config: of two sources with the same new driver the first one keeps it. */
  readonly sources: readonly SourceSettings[];
}

export interface LedgerSettings {
  readonly address: DatabaseAddress;
  /** Absolute path of a PEM file with further authorities. */
  readonly caFile: string | undefined;
  /** The schema that holds the tables. */
  readonly schema: string;
  /** How long an agent leads without being heard of. */
  readonly leaseMs: number;
  /** sha256 (hex) of what all agents have to have alike. */
  readonly alike: string;
}

/** With the meaning of libpq. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** The address of a database server: its url, parsed once. */
export interface DatabaseAddress {
  /** A name or an IP address; without meaning where there is a `socketPath`. */
  readonly host: string;
  readonly port: number;
  /** From `host=/…`: the directory of PostgreSQL's unix socket, or the socket of MySQL itself. */
  readonly socketPath: string | undefined;
  readonly user: string;
  readonly password: string;
  /** `undefined` where the url names none. */
  readonly database: string | undefined;
  /** `undefined` where the url does not say. */
  readonly sslMode: SslMode | undefined;
  /** Longest time to connect. */
  readonly connectMaxMs: number;
  /** For messages: the url without its password and parameters. */
  readonly label: string;
  /** Where the same may be too: all but the first of several hosts. */
  readonly others?: readonly DatabaseAddress[];
}

/** Stands for an address that comes from a variable which is not set. Only commands that send nothing go on with it. */
export const unsetAddress = 'http://unset.invalid';

/** Where snapshots go, as the ledger keeps it; `emulator` where that is the one inside the agent. */
export function addressOf({ destination }: Pick<Settings, 'destination'>): string {
  return destination === 'emulator' ? destination : destination.url;
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

export type ChannelSettings = HookSettings | MailSettings;

interface AnyChannelSettings {
  readonly on: readonly NoticeEvent[];
  /** Absolute path of a PEM file with further authorities. */
  readonly caFile: string | undefined;
}

export interface HookSettings extends AnyChannelSettings {
  readonly kind: 'hook';
  /** As secret as a password. */
  readonly url: string;
  readonly format: HookFormat;
}

export type HookFormat = 'json' | 'slack' | 'teams';

export interface MailSettings extends AnyChannelSettings {
  readonly kind: 'mail';
  readonly to: readonly string[];
  /** `undefined`: the user of the server where that is an address, else one of this machine. */
  readonly from: string | undefined;
  /** `smtps://` or `smtp://`, with user and password. */
  readonly smtp: string;
}

export interface StatusSettings {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Absolute path of the file with the token; `undefined`: none is asked for. */
  readonly tokenFile: string | undefined;
  /** Further names that requests may ask for, in small letters. */
  readonly hosts: readonly string[];
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
  /** What becomes of a read whose values look like a slip. */
  readonly values: ValueGuard;
}

export type ValueGuard = 'hold' | 'warn' | 'off';

/** A month, or the day on which each month closes the one before it. */
export type LastClose =
  | { readonly kind: 'month'; readonly month: Month }
  | { readonly kind: 'day'; readonly day: number };

export interface SourceSettings {
  readonly name: string;
  /** Registered in `src/sources/index.ts`. */
  readonly type: string;
  /** The settings of its kind, as that kind's schema parsed them. */
  readonly kind: unknown;
  /** Its patterns of files as they are written, before variables have their values; `undefined` for a kind without any. */
  readonly files?: readonly string[] | undefined;
  readonly poll: Poll;
  readonly timeoutMs: number;
  readonly removed: 'carry' | 'delete';
  readonly history: 'replace' | 'carry';
  readonly mayBeEmpty: boolean;
  /** `undefined`: as for all sources. */
  readonly values: ValueGuard | undefined;
  /** It holds what happened, and nothing that is planned. */
  readonly actuals: boolean;
  readonly mapping: Mapping;
  readonly lookups: LookupFiles;
  readonly tests: readonly SourceTest[];
  readonly readBy: MappingDigests;
  /** sha256 (hex) of the source's config after substitution, and the timezone. With another digest all parts are read again. */
  readonly digest: string;
}

/** What of a source's config decides what comes of its rows, apart from the entries of maps and calendars: sha256 (hex) each. */
export interface MappingDigests {
  /** Of what decides ids, months and values of readings, and of the timezone. */
  readonly readings: string;
  /** Of how readings of one month become a point. */
  readonly rules: string;
  /** Of the paths alone, where the ids do not come of them. */
  readonly paths: string;
}

/** When a source is checked for changes, whether or not events arrive. */
export type Poll =
  | { readonly kind: 'every'; readonly ms: number }
  /** A cron expression in the agent's `timezone`. */
  | { readonly kind: 'cron'; readonly expression: string };

/** Files that the mapping of a source needs, read again with it. Paths are as written, relative to the config file. */
export interface LookupFiles {
  readonly maps: Readonly<Record<string, MapFile>>;
  readonly calendar: LookupFile | undefined;
}

export interface LookupFile {
  readonly file: string;
  /** `undefined`: a comma, or a tab for `.tsv`. */
  readonly delimiter: string | undefined;
  readonly encoding: string;
  /** How long it must be unchanged before it is read, in ms. */
  readonly settle: number;
}

export interface MapFile extends LookupFile {
  /** Its columns; `undefined`: the first and the second. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Which months of a quarter or year get its value: all, the first, the last, or all an equal share. */
export type Spread = 'repeat' | 'first' | 'last' | 'divide';

/** Example rows, and the readings that must come of them. */
export interface SourceTest {
  /** Of all its rows, in the order in which they are written. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly readings: readonly ExpectedReading[];
  /** How many of the rows must be rejected. */
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

/** Turns wide rows into long ones. Named groups of the pattern become columns beside `name` and `value`. */
export interface Unpivot {
  readonly columns: Pattern;
  /** The new column for the header. */
  readonly name: string | undefined;
  /** The new columns for the fields. With several, the pattern's group `value` says to which one a header belongs. */
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
  readonly value: {
    readonly from: Template;
    readonly format: DecimalFormat;
    /** Each reading says whether its value is of a stored number: see `Readings.stored`. */
    readonly isStoredNoted?: boolean;
  };
  /** How values of a quarter or a year are spread; `undefined`: all times name months or days. */
  readonly spread: Spread | undefined;
  readonly rule: Rule;
}
