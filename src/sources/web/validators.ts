/** The version of an answer by its ETag or Last-Modified (RFC 9110, section 8.8), and as the version of a part. */
import { z } from 'zod';
import { freshVersion } from '../kind.ts';
import type { WebAnswer } from './web.ts';

export interface Validators {
  readonly etag?: string | undefined;
  /** `Last-Modified`, as the server wrote it. */
  readonly modified?: string | undefined;
}

/** Dates have seconds: the date of an answer younger than this may stay the same although the content changes. */
const youngMs = 1000;

export function validatorsOf(answer: WebAnswer): Validators {
  const etag = answer.header('etag');
  const modified = answer.header('last-modified');
  const ageMs = Date.parse(answer.header('date') ?? '') - Date.parse(modified ?? '');
  return etag === undefined && !(ageMs >= youngMs) ? {} : { etag, modified };
}

/** Equal to no other where the answer has neither a tag nor a date. */
function versionStamp({ etag, modified }: Validators): string {
  return etag === undefined && modified === undefined ? freshVersion() : JSON.stringify({ etag, modified });
}

/**
 * The version of an answer that came in full, never the `known` one: a server that was asked whether anything changed and sends the content
 * may ignore dates, may write twice within a second, or may make the tag of something else than the content. The content decides.
 */
export function answeredVersion(validators: Validators, known: string | undefined): string {
  const stamp = versionStamp(validators);
  const isAsBefore = known !== undefined && versionStamp(parseVersion(known)) === stamp;
  return isAsBefore ? JSON.stringify({ ...validators, fresh: freshVersion() }) : stamp;
}

const versionSchema = z.object({ etag: z.string().optional(), modified: z.string().optional() });

/** Tag and date of a version; empty where it has neither. */
export function parseVersion(version: string): Validators {
  if (!version.startsWith('{')) return {};
  return versionSchema.parse(JSON.parse(version));
}
