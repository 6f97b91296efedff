/** The config keys of every kind that is made of files. */
import { z } from 'zod';
import { parseDuration } from '../../core/duration.ts';
import { parseSize } from '../../core/size.ts';
import { type RemotePattern, isRemote, parseRemote, showPattern, unknownAddress } from '../remote/address.ts';
import { type RemoteSettings, remoteKeys } from '../remote/keys.ts';
import { userHint } from '../remote/store.ts';
import { findGlobProblem } from './glob.ts';

/** A part is named by its address without the user: two users' files of one name would be one part. */
function checkUsers(files: readonly (string | RemotePattern)[], context: z.RefinementCtx): void {
  const first = new Map<string, { readonly at: number; readonly user: string | undefined }>();
  for (const [at, file] of files.entries()) {
    if (typeof file === 'string') continue;
    const pattern = showPattern(file);
    const other = first.get(pattern);
    if (other === undefined) first.set(pattern, { at, user: file.user });
    else if (other.user !== file.user) {
      const message = `the same files as those of files[${other.at}], for another user`;
      context.addIssue({ code: 'custom', path: [at], message, params: { hint: userHint } });
    }
  }
}

/** The keys that every kind made of files has. */
export const fileKeys = {
  files: z
    .array(
      z.string().transform((text, context): string | RemotePattern => {
        if (isRemote(text)) {
          const pattern = parseRemote(text);
          if (!('message' in pattern)) return pattern;
          context.addIssue({ code: 'custom', message: pattern.message, params: { hint: pattern.hint } });
          return z.NEVER;
        }
        const unknown = unknownAddress(text);
        if (unknown !== undefined) {
          context.addIssue({ code: 'custom', message: unknown.message, params: { hint: unknown.hint } });
          return z.NEVER;
        }
        const problem = findGlobProblem(text);
        if (problem !== undefined) context.addIssue(problem);
        return text;
      }),
    )
    .min(1)
    .superRefine(checkUsers)
    .describe(
      'Globs, relative to the config file: `*` `?` `[a-z]` `{a,b}`, and `**` for any directories; up to four `*` in one name. None matches a leading dot or the `~$` of files that Office makes while it has a document open; `**` follows no links. Each must match at least one file, or the source is not read. The same on other machines: `s3://BUCKET/…` (key `s3`), `sftp://USER@HOST/…` (`sftp`), and a WebDAV share as `https://HOST/…` (`dav`).',
    ),
  settle: z
    .string()
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms === undefined) context.addIssue('not a duration such as 2s, 500ms or 1m');
      return ms ?? z.NEVER;
    })
    .prefault('2s')
    .describe(
      'A file is read once neither its size nor its times moved for this long; `sync` waits for that, up to 60 s. `0s` does not wait.',
    ),
  parts: z
    .enum(['all', 'newest'])
    .default('all')
    .describe(
      '`all` files together are the source, or only the `newest` one is (dated full exports): the latest modification time, then the later name. A touched file is as old as its content.',
    ),
  expandedMax: z
    .string()
    .transform((text, context) => {
      const bytes = parseSize(text);
      if (bytes === undefined) context.addIssue('not a size such as 4GB or 500MB');
      return bytes ?? z.NEVER;
    })
    .prefault('4GB')
    .describe(
      'A file whose name ends in `.gz` or `.zst` is read as what is in it. One that expands to more than this is refused, and so is one of another machine that is larger.',
    ),
  members: z
    .array(
      z.string().superRefine((text, context) => {
        const problem = findGlobProblem(text);
        if (problem !== undefined) context.addIssue(problem);
      }),
    )
    .min(1)
    .optional()
    .describe(
      'Of a file whose name ends in `.zip`, which files in it are parts (`2026.zip#march/revenue.csv`): globs, such as `["**/*.csv"]`. Each archive must hold one, and with `parts: newest` no more. Default: an archive is refused.',
    ),
  ...remoteKeys,
};

/** A key of kinds whose files are lines of text. */
export const lineEndKey = z
  .enum(['expected', 'any'])
  .default('expected')
  .describe(
    'A file that does not end with a line end may be half a file. `expected`: it is not read where another file of the source ends with one, or its own accepted read did; where nothing is known it has to be quiet ten times as long as `settle`, at least a minute. `any`: such files are whole.',
  );

/** The output of `fileKeys`. */
export interface FileSettings extends RemoteSettings {
  /** Globs, and patterns on other machines. */
  readonly files: readonly (string | RemotePattern)[];
  readonly settle: number;
  readonly parts: 'all' | 'newest';
  readonly expandedMax: number;
  readonly members?: readonly string[] | undefined;
}

/** The output of `fileKeys`, `lineEndKey` and `encodingKey`. */
export interface TextSettings extends FileSettings {
  readonly lineEnd: 'expected' | 'any';
  readonly encoding?: string;
}
