/** What an answer says of its version (RFC 9110, section 8.8), and how it stands in a version. */
import { z } from 'zod';
import { freshVersion } from '../kind.ts';
import type { WebAnswer } from './web.ts';

export interface Validators {
  readonly etag?: string | undefined;
  /** `Last-Modified`, as the server wrote it. */
  readonly modified?: string | undefined;
}

/** A change within the same second would not show: an answer that is younger than this says nothing by its date. */
const youngMs = 1000;

export function validatorsOf(answer: WebAnswer): Validators {
  const etag = answer.header('etag');
  const modified = answer.header('last-modified');
  const ageMs = Date.parse(answer.header('date') ?? '') - Date.parse(modified ?? '');
  return etag === undefined && !(ageMs >= youngMs) ? {} : { etag, modified };
}

/** Of an answer that says nothing of its version, the version is equal to no other. */
function versionStamp({ etag, modified }: Validators): string {
  return etag === undefined && modified === undefined ? freshVersion() : JSON.stringify({ etag, modified });
}

/**
 * The version of an answer that came in full though its version was asked about: the same one only where its tag says so.
 * A server that knows no dates, or wrote twice within one second, must be read.
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

/** What a version says of the version; nothing where it is fresh. */
export function parseVersion(version: string): Validators {
  if (!version.startsWith('{')) return {};
  return versionSchema.parse(JSON.parse(version));
}

/** Weak tags are as good: they say that the content means the same. */
function isSameTag(one: string, other: string | undefined): boolean {
  return one.replace(/^W\//, '') === other?.replace(/^W\//, '');
}
