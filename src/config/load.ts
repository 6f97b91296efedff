/**
 * The config file, parsed once into settings that need no further check, or into everything that is wrong with it.
 *
 *   text -> document.ts      YAML as plain values and the position of each; environment.ts fills in ${VAR}, defaults.ts what
 *                            sources share, and yaml-errors.ts puts the parser's errors into words;
 *                            odd-spaces.ts finds no-break spaces among the spaces of YAML
 *   what may be written      agent-keys.ts, source-keys.ts: keys, their schemas and descriptions; scalars.ts: single values;
 *                            json-schema.ts: all of them together, for editors and docs/CONFIG.md
 *   values -> settings       destination.ts, ledger.ts, notify.ts, status.ts, source.ts, drivers.ts; each moves a cursor (cursor.ts) over the document and reads
 *                            what stands there by its schema (fields.ts)
 *   what is wrong            diagnostics.ts; placing.ts adds file, line and column; core/nearest.ts finds "did you mean"
 *   beside it                reached.ts: whether a file is there, and why it cannot be read; exposure.ts: what other users of the
 *                            machine or the network could read or change; plain-secrets.ts: secrets that stand in the file itself
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AgentError } from '../core/errors.ts';
import type { Settings, SourceSettings } from '../core/settings.ts';
import { guardShape, rootShape } from './agent-keys.ts';
import { readDestination } from './destination.ts';
import { defaultKeys, withDefaults } from './defaults.ts';
import { type Environment, readDocument } from './document.ts';
import { type Fields, readFields, reportMissing, reportType } from './fields.ts';
import { type Cursor, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import type { Diagnostic, PlacedDiagnostic } from './diagnostics.ts';
import { readLedger } from './ledger.ts';
import { readNotify } from './notify.ts';
import { placeDiagnostics } from './placing.ts';
import { plainSecrets } from './plain-secrets.ts';
import { isThere, whyUnread } from './reached.ts';
import { canonicalJson, readSource } from './source.ts';
import { readStatus } from './status.ts';
import { writtenDigest } from './written-digest.ts';

export interface LoadedConfig {
  /** Present where there are no problems. With `secrets: 'optional'` its digest and secrets may differ from the daemon's. */
  readonly settings?: Settings;
  /** Absolute path of the state directory; also there when the problems are elsewhere in the file. */
  readonly state?: string;
  /** All of them at once, in the order of the file. */
  readonly problems: readonly PlacedDiagnostic[];
  /** Secrets that stand in the file itself. */
  readonly exposed: readonly PlacedDiagnostic[];
}

/**
 * Loads a config file.
 * @param file absolute path
 * @param options `secrets: 'optional'` for commands that only look: they need no variables and no secrets, but where ledger and state are;
 * `'unused'` for one that opens neither
 */
export function loadConfig(file: string, options: Environment): LoadedConfig {
  const text = readText(file);
  if (typeof text !== 'string') return { problems: [text], exposed: [] };
  const written = readDocument(text, options);
  const document = withDefaults(written);
  const diagnostics: Diagnostic[] = [...document.diagnostics];
  const cursor: Cursor = { document, path: [], report: (diagnostic) => diagnostics.push(diagnostic) };
  const settings = readSettings(cursor, { file, text, secrets: options.secrets });
  const problems = placeDiagnostics(file, document, diagnostics);
  const found = {
    problems,
    exposed: placeDiagnostics(file, document, plainSecrets(document)),
  };
  if (settings !== undefined && problems.length === 0) {
    return { settings: { ...settings, writtenDigest: writtenDigest(written) }, ...found, state: settings.state };
  }
  const isStateKnown = settings !== undefined && !problems.some((problem) => problem.path === 'state');
  return { ...found, ...(isStateKnown ? { state: settings.state } : {}) };
}

const usualPlaces = ['driver-sync.yaml', 'config/driver-sync.yaml', '/etc/driver-sync/config.yaml'];

/**
 * The absolute path of the config file: `flag`, else `$DRIVER_SYNC_CONFIG`, else the first of the usual places. What is
 * named is used, and nothing else. One that cannot be reached is not passed over either: another config would be pushed as the
 * whole truth. `loadConfig` says why it cannot be read.
 * @throws AgentError `config.missing`, which lists where it looked
 */
export function findConfigFile(options: { flag?: string; env: NodeJS.ProcessEnv; cwd: string }): string {
  const { flag, env } = options;
  const named = flag ?? (env['DRIVER_SYNC_CONFIG'] || undefined);
  const places = (named === undefined ? usualPlaces : [named]).map((place) =>
    path.isAbsolute(place) ? path.normalize(place) : path.resolve(options.cwd, place),
  );
  const found = places.find(isThere);
  if (found !== undefined) return found;
  const by = flag === undefined ? ' (from $DRIVER_SYNC_CONFIG)' : '';
  const where = named === undefined ? `looked for ${places.join(', ')}` : `${places.join('')} does not exist${by}`;
  throw new AgentError('config.missing', `no config file: ${where}`, {
    hint: '`driver-sync init` writes one to start with; --config names another place',
  });
}

interface Origin {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  readonly secrets: Environment['secrets'];
}

function readSettings(cursor: Cursor, origin: Origin): Omit<Settings, 'writtenDigest'> | undefined {
  const written = writtenAt(cursor);
  if (written === undefined || written === null) {
    if (cursor.document.diagnostics.length === 0)
      cursor.report({ path: [], message: 'the file is empty', hint: initHint });
    return undefined;
  }
  if (!isMapping(written)) {
    reportType(cursor, 'a mapping', written);
    return undefined;
  }
  const root = readFields(cursor, rootShape, sections) as Required<Fields<typeof rootShape>>;
  const state = within(cursor, 'state');
  if (spotOf(state)?.unset === true && origin.secrets === 'optional') {
    state.report({
      path: state.path,
      message: 'a variable that is not set',
      hint: 'every command needs the state directory',
    });
  }
  const baseDir = path.dirname(origin.file);
  const isPlaced = spotOf(state)?.unset === true || path.isAbsolute(root.state ?? '');
  if (!isPlaced && isOpenFile(baseDir) && origin.secrets !== 'unused') {
    state.report({
      path: state.path,
      on: spotOf(state) === undefined ? 'missing' : 'value',
      message: `the config comes from ${origin.file}, which is in no folder that could hold the state directory`,
      hint: 'write state: with a whole path, such as /var/lib/driver-sync, or save the config as a file',
    });
  }
  // Its values are read with each source that has them.
  readFields(within(cursor, 'defaults'), {}, defaultKeys);
  const { destination, shouldDeleteMissing, stamp } = readDestination(within(cursor, 'destination'), {
    baseDir,
    secrets: origin.secrets,
  });
  const status = readStatus(within(cursor, 'status'), { baseDir, secrets: origin.secrets });
  const { channels, unaddressed } = readNotify(within(cursor, 'notify'), baseDir);
  const settings = {
    state: path.resolve(baseDir, root.state ?? '.driver-sync'),
    timezone: root.timezone,
    schedule: root.schedule,
    pushOnChangeMs: root.pushOnChange,
    destination,
    shouldDeleteMissing,
    stamp,
    guard: readGuard(cursor),
    lastClose: root.lastClose,
    refreshMs: root.refresh,
    keepMs: root.keep,
    keepMaxBytes: root.keepMax,
    workers: root.workers,
    notify: channels,
    heartbeat: root.heartbeat,
    status,
    ledger: readLedger(within(cursor, 'ledger'), { text: origin.text, baseDir, secrets: origin.secrets }),
    sources: readSources(within(cursor, 'sources'), root.timezone),
  };
  const hasHeartbeat = spotOf(within(cursor, 'heartbeat'))?.unset === true;
  return {
    file: origin.file,
    digest: digestOf(settings),
    ...settings,
    unaddressed: { notify: unaddressed, heartbeat: hasHeartbeat },
  };
}

/** Whether a config there is an open file of some process (`<(…)`, `/dev/stdin`), beside which nothing can be kept. */
function isOpenFile(directory: string): boolean {
  return /^\/(?:dev|dev\/fd|proc\/.*)$/.test(directory);
}

const sections = ['destination', 'guard', 'defaults', 'ledger', 'notify', 'sources', 'status'];
const initHint = '`driver-sync init` writes one to start with';

function readGuard(cursor: Cursor): Settings['guard'] {
  const guard = readFields(within(cursor, 'guard'), guardShape) as Required<Fields<typeof guardShape>>;
  const { maxDeletes, floor, maxRejects, firstPush, values } = guard;
  return { maxDeletes, floor, maxRejects, firstPush, values };
}

const sourceName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function readSources(cursor: Cursor, timezone: string): readonly SourceSettings[] {
  const written = writtenAt(cursor);
  if (spotOf(cursor) === undefined) reportMissing(cursor);
  else if (written !== undefined && !isMapping(written)) reportType(cursor, 'a mapping', written);
  return keysAt(cursor).flatMap((name) => {
    const at = within(cursor, name);
    if (!sourceName.test(name)) {
      const hint = 'use letters, digits, ".", "_" and "-", and begin with a letter or digit';
      cursor.report({
        path: at.path,
        on: 'key',
        message: 'not a name for a source',
        detail: ` ${JSON.stringify(name)}`,
        hint,
      });
    }
    return readSource(at, timezone) ?? [];
  });
}

/** Tells whether a running daemon has these settings; comments and the order of keys do not matter. */
function digestOf({ sources, ...root }: Omit<Settings, 'file' | 'digest' | 'writtenDigest' | 'unaddressed'>): string {
  const all = { ...root, sources: sources.map(({ name, digest }) => [name, digest]) };
  return createHash('sha256').update(canonicalJson(all)).digest('hex');
}

/** The file's text, or why there is none. */
function readText(file: string): string | PlacedDiagnostic {
  const problem = (line: number, message: string, hint: string): PlacedDiagnostic => ({
    file,
    line,
    column: 1,
    path: '',
    message,
    hint,
  });
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR')
      return problem(1, 'the config is a directory', 'name the file, such as driver-sync.yaml in it');
    return problem(1, `the config cannot be read (${whyUnread(file, code)})`, 'is it a file that this user may read?');
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return problem(lineOfBadByte(bytes), 'the config is not UTF-8', 'save it as UTF-8');
  }
}

function lineOfBadByte(bytes: Buffer): number {
  // UTF-8 never uses the byte of a line end within a longer character.
  const lines = bytes.toString('latin1').split('\n');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isBad = (line: string): boolean => {
    try {
      decoder.decode(Buffer.from(line, 'latin1'));
      return false;
    } catch {
      return true;
    }
  };
  return lines.findIndex(isBad) + 1;
}

/** Diagnostics that turned up after loading, such as a column that no part has, by file, line and column. */
export function locateDiagnostics(file: string, diagnostics: readonly Diagnostic[]): PlacedDiagnostic[] {
  if (diagnostics.length === 0) return [];
  return placeDiagnostics(
    file,
    withDefaults(readDocument(readFileSync(file, 'utf8'), { env: process.env, secrets: 'optional' })),
    diagnostics,
  );
}
