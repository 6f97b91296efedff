/** Members of zip archives as parts: `2026.zip#march/revenue.csv`. */
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import type { Part } from '../../core/model.ts';
import { Slices } from '../formats/slices.ts';
import { Zip } from '../formats/zip.ts';
import { PartFile } from './part-file.ts';
import { partIn } from './part-names.ts';
import type { FilePlace } from './place.ts';
import { openQuiet } from './read-part.ts';
import type { StableFile } from './stable-file.ts';

interface MemberList {
  readonly version: string;
  readonly names: readonly string[];
}

/** By the globs of a source's config, which stay the same object: a source is opened for each pass. */
const listed = new WeakMap<readonly string[], Map<string, MemberList>>();

/**
 * The parts with the matching members of each archive instead of the archive.
 * @throws AgentError `part.unreadable` for a damaged archive; `source.unreadable` for one without such a member, or with several
 *   where one part alone counts
 */
export async function withMembers(
  place: FilePlace,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<readonly Part[]> {
  const { members } = place;
  if (members === undefined || !parts.some(isArchive)) return parts;
  const before = listed.get(members) ?? new Map<string, MemberList>();
  const now = new Map<string, MemberList>();
  const all: Part[] = [];
  for (const part of parts) {
    if (!isArchive(part)) {
      all.push(part);
      continue;
    }
    const known = before.get(part.name);
    const list = known?.version === part.version ? known : await listMembers(place, part, signal);
    now.set(part.name, list);
    if (place.newestOnly && list.names.length > 1) throw moreThanOne(place, part, list);
    for (const name of list.names) {
      const member = partIn(part, name);
      place.copies.add(member, (inner) => copyMember(place, { archive: part, name }, inner));
      all.push(member);
    }
  }
  listed.set(members, now);
  return all;
}

/** They are all as new as their archive. */
function moreThanOne({ members = [] }: FilePlace, { name }: Part, { names }: MemberList): AgentError {
  const why = `${names.length} files in it match ${members.join(', ')}, and parts: newest reads one`;
  return new AgentError('source.unreadable', `${name}: ${why}`, {
    hint: 'name the one in members, or leave parts out and keep one archive there: all that are there count together',
  });
}

function isArchive({ name }: Part): boolean {
  return /\.zip$/i.test(name);
}

async function listMembers(place: FilePlace, part: Part, signal: AbortSignal): Promise<MemberList> {
  const file = await openQuiet(place, part, signal);
  try {
    const zip = await openZip(place, file);
    const files = zip.names.filter((name) => !name.endsWith('/'));
    const globs = place.members ?? [];
    const names = files.filter((name) => globs.some((glob) => isNamed(name, glob)));
    await file.verify();
    if (names.length > 0) return { version: part.version, names: names.toSorted() };
    const shown = files.slice(0, 5).join(', ');
    const more = files.length > 5 ? ` and ${files.length - 5} more` : '';
    throw new AgentError('source.unreadable', `${part.name}: nothing in it matches ${globs.join(', ')}`, {
      hint: files.length === 0 ? 'it is empty' : `it holds ${shown}${more}`,
    });
  } finally {
    await file.close();
  }
}

/** Office's lock files are no parts, and neither is what a Mac adds. */
function isNamed(name: string, glob: string): boolean {
  if (path.posix.basename(name).startsWith('~$') || name.startsWith('__MACOSX/')) return false;
  return name === glob || path.posix.matchesGlob(name, glob);
}

async function copyMember(
  place: FilePlace,
  { archive, name }: { readonly archive: Part; readonly name: string },
  signal: AbortSignal,
) {
  const file = await openQuiet(place, archive, signal);
  try {
    const zip = await openZip(place, file);
    if (!zip.has(name)) throw new AgentError('part.changing', `${archive.name}#${name} was removed before it was read`);
    const kept = await place.copies.keep(`${archive.name}#${name}`, zip.chunks(name));
    try {
      await file.verify();
      return { version: file.version, revisedAtMs: file.revisedAtMs, kept };
    } catch (error) {
      await kept.remove();
      throw error;
    }
  } finally {
    await file.close();
  }
}

async function openZip(place: FilePlace, file: StableFile): Promise<Zip> {
  const partFile = new PartFile(file, place.expandedMax);
  return await Zip.open(new Slices(partFile, await partFile.size()), place.expandedMax);
}
