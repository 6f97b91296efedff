/** The config file, parsed once into settings that are already true, or into everything that is wrong with it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Settings, SourceSettings } from '../core/settings.ts';
import { guardShape, rootShape } from './agent-schema.ts';
import { readDestination } from './destination.ts';
import { type Environment, readDocument } from './document.ts';
import { refuseMissing, refuseType } from './issues.ts';
import { type Place, isMapping, keysAt, spotOf, within, writtenAt } from './place.ts';
import type { Finding } from './finding.ts';
import { type Problem, locateProblems } from './problems.ts';
import { type Fields, readFields } from './read.ts';
import { canonicalJson, readSource } from './source.ts';

export interface LoadedConfig {
  /** Present where there are no problems. */
  readonly settings?: Settings;
  /** Absolute path of the state directory, also where there are problems elsewhere in the file. */
  readonly state?: string;
  /** All of them at once, in the order of the file. */
  readonly problems: readonly Problem[];
  /**
   * Variables that the file names without a default and that are not set: with `secrets: 'optional'` no problem, but
   * then neither the digests nor the secrets of the settings are those of the daemon.
   */
  readonly unset: readonly string[];
}

/**
 * Loads a config file.
 * @param file absolute path
 * @param options `secrets: 'optional'` for commands that only look: unset variables and unreadable secrets are no problem
 */
export function loadConfig(file: string, options: Environment): LoadedConfig {
  const text = readText(file);
  if (typeof text !== 'string') return { problems: [text], unset: [] };
  const document = readDocument(text, options);
  const findings: Finding[] = [...document.findings];
  const place: Place = { document, path: [], report: (finding) => findings.push(finding) };
  const settings = readSettings(place, { file, text, secrets: options.secrets });
  const problems = locateProblems(file, document, findings);
  const unset = [...document.unset];
  if (settings !== undefined && problems.length === 0) return { settings, problems, unset, state: settings.state };
  const isStateKnown = settings !== undefined && !problems.some((problem) => problem.path === 'state');
  return { problems, unset, ...(isStateKnown ? { state: settings.state } : {}) };
}

interface Origin {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  readonly secrets: Environment['secrets'];
}

function readSettings(place: Place, origin: Origin): Settings | undefined {
  const written = writtenAt(place);
  if (written === undefined || written === null) {
    if (place.document.findings.length === 0) place.report({ path: [], message: 'the file is empty', hint: initHint });
    return undefined;
  }
  if (!isMapping(written)) {
    refuseType(place, 'a mapping', written);
    return undefined;
  }
  const root = readFields(place, rootShape, sections) as Required<Fields<typeof rootShape>>;
  const state = within(place, 'state');
  if (spotOf(state)?.unset === true && origin.secrets === 'optional') {
    state.report({
      path: state.path,
      message: 'a variable that is not set',
      hint: 'every command needs the state directory',
    });
  }
  const baseDir = path.dirname(origin.file);
  const { destination, shouldDeleteMissing, stamp } = readDestination(within(place, 'destination'), {
    baseDir,
    secrets: origin.secrets,
  });
  const settings = {
    state: path.resolve(baseDir, root.state ?? '.driver-sync'),
    timezone: root.timezone,
    schedule: root.schedule,
    pushOnChangeMs: root.pushOnChange,
    destination,
    shouldDeleteMissing,
    stamp,
    guard: readGuard(place),
    refreshMs: root.refresh,
    keepMs: root.keep,
    keepMaxBytes: root.keepMax,
    sources: readSources(within(place, 'sources'), root.timezone),
  };
  return { file: origin.file, digest: digestOf(settings), ...settings };
}

const sections = ['destination', 'guard', 'sources'];
const initHint = '`driver-sync init` writes one to start with';

function readGuard(place: Place): Settings['guard'] {
  const guard = readFields(within(place, 'guard'), guardShape) as Required<Fields<typeof guardShape>>;
  return { maxDeletes: guard.maxDeletes, floor: guard.floor, maxRejects: guard.maxRejects, firstPush: guard.firstPush };
}

const sourceName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function readSources(place: Place, timezone: string): readonly SourceSettings[] {
  const written = writtenAt(place);
  if (spotOf(place) === undefined) refuseMissing(place);
  else if (written !== undefined && !isMapping(written)) refuseType(place, 'a mapping', written);
  return keysAt(place).flatMap((name) => {
    const at = within(place, name);
    if (!sourceName.test(name)) {
      const hint = 'use letters, digits, ".", "_" and "-", and begin with a letter or digit';
      place.report({
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

/** Tells whether a running daemon has these settings: a comment, or another order of keys, makes no others. */
function digestOf({ sources, ...root }: Omit<Settings, 'file' | 'digest'>): string {
  const all = { ...root, sources: sources.map(({ name, digest }) => [name, digest]) };
  return createHash('sha256').update(canonicalJson(all)).digest('hex');
}

/** The file's text, or why there is none. */
function readText(file: string): string | Problem {
  const problem = (line: number, message: string, hint: string): Problem => ({
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
    return problem(1, `the config cannot be read (${code})`, 'is it a file that this user may read?');
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return problem(lineOfBadByte(bytes), 'the config is not UTF-8', 'save it as UTF-8');
  }
}

function lineOfBadByte(bytes: Buffer): number {
  // Every line is cut off at a byte that no longer character contains.
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
