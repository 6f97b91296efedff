/** Files that several names lead to: a link beside what it leads to, hard links, the files of a folder and of a link to it. */
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Part } from '../../core/model.ts';
import type { Glob } from './glob.ts';
import { versionOf } from './stable-file.ts';

export interface ListedFile {
  readonly glob: Glob;
  /** Absolute. */
  readonly file: string;
  /** Of what the name leads to. */
  readonly stats: BigIntStats;
  readonly part: Part;
}

/** Each file once, with its other names: under the name that is no link, and of hard links under the first one. */
export async function withoutOtherNames(files: readonly ListedFile[]): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const alike of Map.groupBy(files, ({ stats: { dev, ino } }) => `${ino}-${dev}`).values()) {
    if (alike.length === 1) parts.push(alike[0]!.part);
    else for (const names of (await ofOneFile(alike)).values()) parts.push(await oneOf(names));
  }
  return parts;
}

/** Some shares number no files, or number two alike: these differ in size or times, unless one was written meanwhile. */
async function ofOneFile(files: readonly ListedFile[]): Promise<ReadonlyMap<string, readonly ListedFile[]>> {
  const versions = new Set(files.map(({ part }) => part.version));
  if (files[0]!.stats.ino === 0n) return new Map(files.map((one) => [one.file, [one]]));
  if (versions.size === 1) return new Map([['', files]]);
  const again = await Promise.all(
    files.map(async (one) => {
      // One that has gone since is found missing when it is read.
      const stats = await stat(one.file, { bigint: true }).catch(() => one.stats);
      return { version: versionOf(stats), one };
    }),
  );
  const groups = Map.groupBy(again, ({ version }) => version);
  return new Map([...groups].map(([version, group]) => [version, group.map(({ one }) => one)]));
}

async function oneOf(names: readonly ListedFile[]): Promise<Part> {
  const seen = await Promise.all(names.map(async (one) => ({ ...one, links: await linksOf(one) })));
  const [first, ...others] = seen.toSorted((a, b) => a.links - b.links || (a.part.name < b.part.name ? -1 : 1));
  const { part } = first!;
  return others.length === 0 ? part : { ...part, otherNames: others.map((one) => one.part.name).toSorted() };
}

/** 2: the name, or a folder that a wildcard stands for, is a symbolic link; 1: only a folder above is. What has gone since counts as a link. */
async function linksOf({ glob, file }: ListedFile): Promise<0 | 1 | 2> {
  const [folder, real] = await Promise.all([glob.directory, file].map((one) => realpath(one).catch(() => undefined)));
  if (real === file) return 0;
  return folder !== undefined && real === path.join(folder, path.relative(glob.directory, file)) ? 1 : 2;
}
