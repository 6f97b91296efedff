/**
 * Finds out where the files of a source really are. Whoever may write into the folder of the exports can put a link
 * there, and the agent may read files that they may not. So the agent's own files are never read as data, and messages
 * never show the columns of a file outside the folder: those are the whole of a token, or the first line of a password
 * file.
 */
import type { BigIntStats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { columnProblems } from '../../core/mapping/columns.ts';
import type { Batch } from '../../core/mapping/column-batch.ts';
import type { Mapping } from '../../core/settings.ts';
import type { Glob } from './glob.ts';

/** A file as it was opened. */
export interface OpenedFile {
  /** The part's name, for messages. */
  readonly name: string;
  readonly path: string;
  readonly stats: Pick<BigIntStats, 'dev' | 'ino' | 'nlink'>;
  /** The failure of a file that is another one by now. */
  changed(): AgentError;
}

/** The path of an open file without links. @throws AgentError `part.changing` where the name leads to another file by now */
async function realPathOf(file: OpenedFile): Promise<string> {
  const real = await withoutLinks(file.path);
  const stats = real === undefined ? undefined : await statOf(real);
  if (real === undefined || stats === undefined || !isSame(stats, file.stats)) throw file.changed();
  return real;
}

/**
 * Refuses a file that is one of `forbidden` (absolute paths of files and directories) or lies in one, under
 * any name: through a link, through links in the directories above it, or as a hard link.
 * @throws AgentError `part.unreadable`
 */
export async function refuseForbidden(file: OpenedFile, forbidden: readonly string[]): Promise<void> {
  const own = await ownFileOf(file, forbidden);
  if (own === undefined) return;
  const noData = 'the config, the files of tokens and the state directory hold no data to read';
  const [fact, cure] = reachedBy(path.resolve(file.path), own);
  throw new AgentError('part.unreadable', `${file.name} ${fact}`, { hint: `${cure}: ${noData}` });
}

/** How a name leads to the agent's own file, and what ends that. */
function reachedBy(file: string, own: string): readonly [fact: string, cure: string] {
  if (file === own) return ["is the agent's own", 'narrow the glob'];
  if (isBelow(file, own)) return [`is in ${own}, which is the agent's own`, 'narrow the glob, or name another "state"'];
  return [`is a link to ${own}, which is the agent's own`, 'remove the link, or narrow the glob'];
}

/**
 * Refuses a database in the same way, by its absolute path. One that is not there is left to whoever opens it.
 * @throws AgentError `source.unreadable`
 */
export async function refuseForbiddenDatabase(database: string, forbidden: readonly string[]): Promise<void> {
  const stats = await statOf(database);
  if (stats === undefined) return;
  const changed = (): AgentError =>
    new AgentError('source.unreadable', `${database} was replaced while it was opened`, {
      hint: 'it is tried again at the next look',
    });
  const own = await ownFileOf({ name: database, path: database, stats, changed }, forbidden);
  if (own === undefined) return;
  throw new AgentError('source.unreadable', `the database ${database} is the agent's own: it leads to ${own}`, {
    hint: 'name another database under file: the config, the files of tokens and the state directory hold no data to read',
  });
}

/**
 * Refuses a file that another program has opened by this name, where it is the agent's own, or where a link leads to it out of the
 * folder that the name says. A link that was exchanged since it was opened is not noticed.
 * @throws AgentError `part.unreadable`, or `part.changing` where it is gone by now
 */
export async function refuseLink(name: string, forbidden: readonly string[]): Promise<void> {
  const file = path.resolve(name);
  const changed = (): AgentError =>
    new AgentError('part.changing', `${name} was replaced while it was read`, {
      hint: 'it is read again at the next look',
    });
  const stats = await statOf(file);
  if (stats === undefined) throw changed();
  const opened = { name, path: file, stats, changed };
  await refuseForbidden(opened, forbidden);
  const real = await realPathOf(opened);
  const folder = await withoutLinks(path.dirname(file));
  if (folder === undefined) throw changed();
  if (isBelow(real, folder)) return;
  throw new AgentError('part.unreadable', `${name} is a link that leads out of its folder`, {
    hint: `write the path of the file itself in the query: ${real}`,
  });
}

/** The one of `forbidden` that a file is, or lies in. */
async function ownFileOf(file: OpenedFile, forbidden: readonly string[]): Promise<string | undefined> {
  const real = await realPathOf(file);
  for (const own of forbidden) {
    const stats = await statOf(own);
    if (stats === undefined) continue;
    if (stats.isDirectory() ? await isIn(file, real, own) : isSame(stats, file.stats)) return own;
  }
  return undefined;
}

/** `undefined` where it is not there, or the agent may not see it: then it cannot have been opened by another name either. */
async function statOf(file: string): Promise<BigIntStats | undefined> {
  return await stat(file, { bigint: true }).catch(() => undefined);
}

/** The path behind all links; `undefined` where it is gone by now, or the agent may not see it. */
async function withoutLinks(file: string): Promise<string | undefined> {
  return await realpath(file).catch(() => undefined);
}

function isSame(a: Pick<BigIntStats, 'dev' | 'ino'>, b: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

async function isIn(file: OpenedFile, real: string, directory: string): Promise<boolean> {
  const own = await withoutLinks(directory);
  if (own !== undefined && isBelow(real, own)) return true;
  // Only a file of several names may have one in there, too.
  if (file.stats.nlink < 2n) return false;
  // A command may take its copy of the buffer away meanwhile: nobody knows then what was in there.
  const entries = await readdir(directory, { recursive: true }).catch(() => undefined);
  if (entries === undefined) throw file.changed();
  for (const entry of entries) {
    const stats = await statOf(path.join(directory, entry));
    if (stats !== undefined && isSame(stats, file.stats)) return true;
  }
  return false;
}

function isBelow(file: string, directory: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`);
}

/** Whether a file that one of the globs names is outside the fixed directories of all of them, once links are followed. */
export async function isOutside(file: OpenedFile, globs: readonly Glob[]): Promise<boolean> {
  const real = await realPathOf(file);
  for (const { directory } of globs) {
    // One that is gone since the files were listed holds none of them.
    const folder = await withoutLinks(directory);
    if (folder !== undefined && isBelow(real, folder)) return false;
  }
  return true;
}

/**
 * The batches and the end of `read`, whose failures say nothing that stands in the file. Whether its columns fit the
 * mapping is checked here, since the later check lists the columns in its message.
 */
export async function* withoutNames<Given extends Pick<Batch, 'columns' | 'shared'>, End>(
  name: string,
  mapping: Mapping | undefined,
  read: AsyncGenerator<Given, End, void>,
): AsyncGenerator<Given, End, void> {
  let isFirst = true;
  try {
    for (;;) {
      const next = await read.next();
      if (next.done === true) return next.value;
      const { columns, shared } = next.value;
      const isJudged = isFirst && mapping !== undefined && columns.length > 0;
      const [problem] = isJudged ? columnProblems(mapping, columns, shared) : [];
      if (problem !== undefined) throw untold(name, `its columns do not fit ${problem.path.join('.')}`);
      isFirst = false;
      yield next.value;
    }
  } catch (error) {
    throw withoutContent(name, error);
  } finally {
    await read.return(undefined as never);
  }
}

/** The same failure, without anything from the file's content. */
function withoutContent(name: string, error: unknown): unknown {
  const isOfContent = isAgentError(error, 'part.unreadable') || isAgentError(error, 'source.unreadable');
  return isOfContent && !isUntold(error) ? untold(name, 'it cannot be read as what it should be') : error;
}

const why = 'more is not said, since it is a link that leads out of its folder';

function isUntold(error: AgentError): boolean {
  return error.message.endsWith(why);
}

function untold(name: string, what: string): AgentError {
  return new AgentError('part.unreadable', `${name}: ${what}; ${why}`, {
    hint: 'name the folder that the file is in under files: then the message says what is wrong with it',
  });
}
