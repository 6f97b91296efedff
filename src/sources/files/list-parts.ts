/** The parts of a source that is made of files, as there are now. */
import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { namesShared } from '../../core/mapping/columns.ts';
import type { Part } from '../../core/model.ts';
import { accessError, codeOf, untilAborted } from './access.ts';
import { type Glob, findMatches, isMagic, listNeighbours } from './glob.ts';
import { withMembers } from './members.ts';
import type { FilePlace } from './place.ts';
import { type ListedFile, withoutOtherNames } from './same-file.ts';
import { notAFile, revisedAtMsOf, versionOf } from './stable-file.ts';

/**
 * The files that the globs name, in the order of their names. A directory that a glob happens to match is left out;
 * so is the lock file of a workbook that somebody has open (`~$books.xlsx`). A file of several names is one part. A device, a FIFO or a socket is a failure
 * and is never opened.
 * @throws AgentError `source.unreadable` where something cannot be seen, or a glob matches nothing.
 */
export async function listParts(place: FilePlace, signal: AbortSignal): Promise<readonly Part[]> {
  const local = await untilAborted(collectParts(place, signal), signal);
  const remote = await untilAborted(place.copies.list(place.remotes, signal), signal);
  const parts = await withMembers(place, [...local, ...remote], signal);
  return parts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function collectParts(place: FilePlace, signal: AbortSignal): Promise<readonly Part[]> {
  // A file that two patterns name is one part, named by the first.
  const files = new Map<string, ListedFile>();
  for (const glob of place.globs) {
    const matches = [...(await findMatches(glob, signal))];
    const found = await Promise.all(matches.map((file) => listedFile(place, glob, file)));
    if (found.every((one) => one === undefined)) {
      throw new AgentError('source.unreadable', `nothing matches ${glob.text} in ${glob.directory}`, {
        hint: (await hintOfFolder(glob, matches)) ?? (await listNeighbours(glob)),
      });
    }
    for (const one of found) if (one !== undefined && !files.has(one.file)) files.set(one.file, one);
  }
  const listed = [...files.values()];
  // Where the name says what the rows mean, another name is another part.
  const isNamed = place.mapping !== undefined && namesShared(place.mapping, ['file']);
  return isNamed ? listed.map(({ part }) => part) : await withoutOtherNames(listed);
}

/** For a person who wrote the name of a folder and meant the files in it. */
async function hintOfFolder({ text, segments }: Glob, matches: readonly string[]): Promise<string | undefined> {
  const stats = await Promise.all(matches.map(statFile));
  if (!stats.some((one) => one?.isDirectory())) return undefined;
  const within = `${text.replace(/\/+$/, '')}/*`;
  return segments.some(isMagic)
    ? `only folders match: write ${within} for the files in them`
    : `that is a folder: write ${within} for the files in it`;
}

async function listedFile(place: FilePlace, glob: Glob, file: string): Promise<ListedFile | undefined> {
  if (path.basename(file).startsWith('~$')) return undefined;
  const stats = await statFile(file);
  if (stats === undefined || stats.isDirectory()) return undefined;
  if (!stats.isFile()) throw notAFile(file, stats);
  const part = { ...place.names.ofFile(glob, file), version: versionOf(stats), revisedAtMs: revisedAtMsOf(stats) };
  return { glob, file, stats, part };
}

/** `undefined` where it was removed since its directory was listed; a link that leads nowhere is a failure. */
async function statFile(file: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw accessError('source.unreadable', file, error);
    if ((await lstat(file).catch(() => undefined)) === undefined) return undefined;
    throw new AgentError('source.unreadable', `${file} is a symbolic link that leads nowhere`, {
      cause: error,
      hint: 'remove the link, or mount what it leads to',
    });
  }
}
