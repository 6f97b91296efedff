/** `init --from`: a config for files that nobody has described, and what `check` says of it. */
import { type Dirent, type Stats, globSync, lstatSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SourceCheck } from '../app/ask/check.ts';
import { makeFolder } from '../compose/place.ts';
import { namesBeside, sampleFile } from '../compose/samples.ts';
import { loadConfig } from '../config/load.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { NoDraft } from '../propose/draft.ts';
import type { Sample } from '../propose/layout.ts';
import { type Proposal, propose } from '../propose/propose.ts';
import { type Looked, lookAround, showSource } from './check.ts';
import { type Context, answer } from './context.ts';
import { problemLine } from './failing.ts';
import { shortPath, wholePath } from './working-directory.ts';
import { count, shellWord } from '../core/text.ts';

interface From {
  readonly directory: string;
  readonly files: readonly string[];
}

/** Writes DIR/driver-sync.yaml for these files, and looks at it as `check` does. */
export async function initFrom(context: Context, from: From): Promise<number> {
  const { directory, files } = withDirectory(context, from);
  const to = wholePath(context, directory);
  const config = path.join(to, 'driver-sync.yaml');
  refuseTaken(config);
  const paths = [...new Set(files.flatMap((file) => expanded(context, file)))].filter((file) => file !== config);
  const { samples, unread } = await sampleAll(paths, to);
  const beside = new Map(paths.map((file) => [nameIn(to, file), file]));
  const proposal = propose(samples, (name) => namesBeside(beside.get(name) ?? config, name));
  const without = [...unread, ...proposal.without];
  const within = [...new Set(files.flatMap((file) => foldersWithin(context, file)))]
    .filter((folder) => !paths.some((file) => path.dirname(file) === folder))
    .map((folder) => nameIn(to, folder));
  if (proposal.text === undefined) throw nothingProposed(context, { files, without, within });
  writeConfig(config, proposal.text);
  const loaded = loadConfig(config, { env: context.env, secrets: 'required' });
  const looked: Looked =
    loaded.settings === undefined
      ? { problems: loaded.problems, sources: [], exit: 78 }
      : await lookAround(context, loaded.settings);
  const exit = looked.exit === 0 && without.length > 0 ? 3 : looked.exit;
  const report = { config, ok: exit === 0, ...reportOf(proposal, looked), without, within, text: proposal.text };
  answer(context, report, () => show(shortPath(config), { proposal, looked, without, within }));
  return exit;
}

/** @throws AgentError `usage` where something stands in the place of the config, or nobody can look there */
function refuseTaken(config: string): void {
  try {
    // A link that leads nowhere is there too.
    if (lstatSync(config, { throwIfNoEntry: false }) === undefined) return;
  } catch (cause) {
    if (codeOf(cause) === 'ENOTDIR') return;
    throw unwritable(config, cause);
  }
  throw new AgentError('usage', `${config} is there already`, { hint: 'name another directory, or move it away' });
}

/** `undefined` where nothing is there, or nobody can look: whoever reads it then says why not. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    codeOf(error);
    return undefined;
  }
}

/** What the file system calls a failure; anything else is thrown on. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
}

/** A directory behind the files is where the config goes: `init --from a.csv b.csv finance`. */
function withDirectory(context: Context, { directory, files }: From): From {
  const last = files.at(-1) ?? '';
  if (directory !== '.' || files.length < 2 || /[*?.]/.test(path.basename(last))) return { directory, files };
  const stats = statsOf(wholePath(context, last));
  const isPlace = stats === undefined || stats.isDirectory();
  return isPlace ? { directory: last, files: files.slice(0, -1) } : { directory, files };
}

/** Names of files that may hold a table. */
const tableName = /^[^.~].*\.(csv|tsv|tab|txt|dat|json|jsonl|ndjson|xlsx|xlsm|parquet)(\.(gz|zst))?$/i;

/** A directory stands for the tables in it. A pattern that no shell has expanded is expanded here. */
function expanded(context: Context, file: string): readonly string[] {
  const named = wholePath(context, file);
  const stats = statsOf(named);
  if (stats?.isDirectory() === true) {
    const names = listed(named)
      .map(({ name }) => name)
      .filter((name) => tableName.test(name));
    return names.length === 0 ? [named] : names.toSorted().map((name) => path.join(named, name));
  }
  if (stats !== undefined || !/[*?]/.test(file)) return [named];
  const { cwd } = context;
  const found = globSync(file, { cwd }).map((match) => path.resolve(cwd, match));
  return found.length === 0 ? [named] : found.toSorted();
}

/** Folders with tables in a folder that was named: those in it stand for nothing until they are named, too. */
function foldersWithin(context: Context, file: string): readonly string[] {
  const named = wholePath(context, file);
  if (statsOf(named)?.isDirectory() !== true) return [];
  return listed(named)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => path.join(named, name))
    .filter((folder) => hasTable(folder))
    .toSorted();
}

function hasTable(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => tableName.test(name));
  } catch (error) {
    // A folder that only others may read: it may well hold tables.
    return codeOf(error) !== '';
  }
}

/** The entries of a folder; none where only others may read it. */
function listed(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    codeOf(error);
    return [];
  }
}

const notThere = 'it does not exist';

/** Why there is nothing to sample, apart from what sampling it would say. */
function whyNothing(file: string): string | undefined {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return notThere;
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    readdirSync(file);
    return 'no file in it has the name of a table, such as *.csv or *.xlsx';
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOTDIR' ? notThere : `it cannot be read (${code})`;
  }
}

function nameIn(directory: string, file: string): string {
  return path.relative(directory, file).replaceAll(path.sep, '/');
}

async function sampleAll(
  files: readonly string[],
  directory: string,
): Promise<{ readonly samples: readonly Sample[]; readonly unread: readonly NoDraft[] }> {
  const samples: Sample[] = [];
  const unread: NoDraft[] = [];
  for (const file of files) {
    const why = whyNothing(file);
    if (why !== undefined) {
      unread.push({ name: nameIn(directory, file), why });
      continue;
    }
    try {
      samples.push(await sampleFile(file, nameIn(directory, file), new AbortController().signal));
    } catch (error) {
      if (!isAgentError(error)) throw error;
      unread.push({
        name: nameIn(directory, file),
        why: error.hint === undefined ? error.message : `${error.message} (${error.hint})`,
      });
    }
  }
  return { samples, unread };
}

function nothingProposed(
  context: Context,
  found: {
    readonly files: readonly string[];
    readonly without: readonly NoDraft[];
    readonly within: readonly string[];
  },
): AgentError {
  const message = `no source can be proposed: ${found.without.map(showNoDraft).join('; ')}`;
  return new AgentError('usage', message, { hint: whatToName(context, found) });
}

function whatToName(context: Context, { files, without, within }: Parameters<typeof nothingProposed>[1]): string {
  if (within.length > 0) return `there are tables in ${within.join(', ')}: name that behind --from`;
  if (without.every(({ why }) => why === notThere) && files.some((file) => !path.isAbsolute(file)))
    return `relative paths begin in ${context.cwd}`;
  return 'docs/COOKBOOK.md has the shapes of data that can be read, each with its config; docs/SOURCES.md#programs has scripts for bank statements';
}

/** Most reasons begin with the name of the file. */
function showNoDraft({ name, why }: NoDraft): string {
  return why.startsWith(`${name} `) ? why : `${name}: ${why}`;
}

function writeConfig(config: string, text: string): void {
  try {
    makeFolder(path.dirname(config), 0o777);
    writeFileSync(config, text, { flag: 'wx' });
  } catch (cause) {
    throw unwritable(config, cause);
  }
}

function unwritable(config: string, cause: unknown): AgentError {
  return new AgentError('usage', `${config} cannot be written (${codeOf(cause)})`, {
    cause,
    hint: 'name a directory that you may write; neither a file nor a link that leads nowhere may stand in its place',
  });
}

function reportOf({ sources }: Proposal, looked: Looked): object {
  const checked = new Map(looked.sources.map((source) => [source.name, source]));
  return {
    problems: looked.problems,
    sources: sources.map(({ name, undecided }) => ({ ...checked.get(name), name, undecided })),
  };
}

/** How many readings of each source are shown. */
const readingsShown = 3;

function show(
  config: string,
  found: {
    readonly proposal: Proposal;
    readonly looked: Looked;
    readonly without: readonly NoDraft[];
    /** Folders that nobody looked into. */
    readonly within: readonly string[];
  },
): string[] {
  const { proposal, looked, without, within } = found;
  const lines = [`wrote ${config}: ${count(proposal.sources.length, 'source')}`, ...looked.problems.map(problemLine)];
  for (const { name, undecided } of proposal.sources) {
    const source = looked.sources.find((one) => one.name === name);
    lines.push(...(source === undefined ? [`source ${name}`] : showSource(firstOf(source))));
    lines.push(...undecided.map((text) => `  ${text.startsWith('undecided') ? text : `look at this: ${text}`}`));
  }
  for (const one of without) lines.push(`no source for ${showNoDraft(one)}`);
  for (const folder of within) lines.push(`not looked into: the folder ${folder} (name it behind --from, too)`);
  const isRight = looked.exit === 0;
  lines.push(
    isRight
      ? 'as far as check has looked, sync would accept it; every line is a guess from what the files show, so read its comments'
      : 'sync would not accept it yet: the comments in it say what it was guessed from; correct it, then check it',
    `next: driver-sync check --config ${shellWord(config)}, then driver-sync run --config ${shellWord(config)}`,
  );
  return lines;
}

function firstOf(source: SourceCheck): SourceCheck {
  return {
    ...source,
    readings: source.readings.slice(0, readingsShown),
    rejects: source.rejects.slice(0, readingsShown),
  };
}
