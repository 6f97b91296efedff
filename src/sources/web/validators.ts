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
 * The version of an answer that came in full. It is the `known` one only where the tags are the same: an equal date may be of
 * a server that ignores dates, or that wrote twice within one second.
 */
export function answeredVersion(validators: Validators, known: string | undefined): string {
  const before = known === undefined ? undefined : parseVersion(known);
  if (before?.etag !== undefined && isSameTag(before.etag, validators.etag)) return known as string;
  const isSameDate = before?.modified !== undefined && before.modified === validators.modified;
  return isSameDate && validators.etag === undefined
    ? JSON.stringify({ ...validators, fresh: freshVersion() })
    : versionStamp(validators);
}

const versionSchema = z.object({ etag: z.string().optional(), modified: z.string().optional() });

/** Tag and date of a version; empty where it has neither. */
export function parseVersion(version: string): Validators {
  if (!version.startsWith('{')) return {};
  return versionSchema.parse(JSON.parse(version));
}

/** A weak tag counts too: it says that the content means the same. */
function isSameTag(one: string, other: string | undefined): boolean {
  return one.replace(/^W\//, '') === other?.replace(/^W\//, '');
}
