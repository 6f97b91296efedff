/** Where snapshots go, with its secrets checked and still by reference. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DestinationSettings, Secret, Settings } from '../core/settings.ts';
import { isToken, destinationShape } from './agent-schema.ts';
import type { Environment } from './document.ts';
import { refuseMissing } from './issues.ts';
import { type Place, isMapping, keysAt, spotOf, within, writtenAt } from './place.ts';
import { type Fields, readFields } from './read.ts';

type Target = Pick<Settings, 'destination' | 'shouldDeleteMissing' | 'stamp'>;

interface Surroundings {
  /** Absolute: what paths are relative to. */
  readonly baseDir: string;
  readonly secrets: Environment['secrets'];
}

/** What the agent says itself: another value would make the request a lie, or break it. */
const ownHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Reads `destination`, reporting what is wrong without showing any of its texts. */
export function readDestination(place: Place, surroundings: Surroundings): Target {
  const written = writtenAt(place);
  const emulator: Target = { destination: 'emulator', shouldDeleteMissing: true, stamp: 'middle' };
  if (spotOf(place) === undefined) refuseMissing(place, 'emulator');
  else if (written !== undefined && written !== 'emulator' && !isMapping(written)) {
    const hint = 'an address is written as destination: { url: … }';
    place.report({ path: place.path, message: 'expected "emulator" or a mapping with url', hint });
  }
  if (!isMapping(written)) return emulator;
  const fields = readFields(place, destinationShape) as Required<Fields<typeof destinationShape>>;
  const keys = keysAt(place);
  if (keys.includes('token') && keys.includes('tokenFile')) {
    const at = within(place, 'tokenFile');
    at.report({ path: at.path, on: 'key', message: 'token and tokenFile are both there', hint: 'keep one of the two' });
  }
  checkHeaders(place, keys.includes('token') || keys.includes('tokenFile'));
  return {
    destination: {
      // Only a command that sends nothing gets this far without one.
      url: fields.url ?? 'http://unset.invalid',
      token: readToken(place, fields, surroundings),
      headers: fields.headers,
      timeoutMs: fields.timeout,
      compress: fields.compress,
      caFile: readCaFile(place, fields.caFile, surroundings),
    } satisfies DestinationSettings,
    shouldDeleteMissing: fields.shouldDeleteMissing,
    stamp: fields.stamp,
  };
}

function checkHeaders(place: Place, hasToken: boolean): void {
  const at = within(place, 'headers');
  const seen = new Set<string>();
  for (const key of keysAt(at)) {
    const name = key.toLowerCase();
    const report = (message: string, hint: string): void =>
      at.report({ path: [...at.path, key], on: 'key', message, hint });
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) report('not a name for a header', 'use letters, digits and "-"');
    else if (ownHeaders.has(name)) report(`the agent sets the header ${name} itself`, 'remove it');
    else if (name === 'authorization' && hasToken)
      report('token already sets the header authorization', 'keep one of the two');
    else if (seen.has(name)) report(`the header ${name} is written twice`, 'keep one of the two');
    seen.add(name);
  }
}

function readToken(
  place: Place,
  { token, tokenFile }: Fields<typeof destinationShape>,
  { baseDir, secrets }: Surroundings,
): Secret | undefined {
  if (tokenFile !== undefined) {
    const file = path.resolve(baseDir, tokenFile);
    const text = secrets === 'required' ? readPrivate(within(place, 'tokenFile'), file) : undefined;
    if (text?.trim() === '') {
      const at = within(place, 'tokenFile');
      at.report({ path: at.path, message: 'the token file is empty', hint: 'write the token into it' });
    } else if (text !== undefined && !isToken(text.trim())) {
      const at = within(place, 'tokenFile');
      const hint = 'it holds the token alone: look for white space or line ends within';
      at.report({ path: at.path, message: 'the token in the file has a character that no token has', hint });
    }
    return { kind: 'file', file };
  }
  if (token === undefined || spotOf(within(place, 'token'))?.unset === true) return undefined;
  return { kind: 'text', text: token };
}

function readCaFile(place: Place, caFile: string | undefined, { baseDir, secrets }: Surroundings): string | undefined {
  if (caFile === undefined) return undefined;
  const file = path.resolve(baseDir, caFile);
  const text = secrets === 'required' ? readPrivate(within(place, 'caFile'), file) : undefined;
  if (text !== undefined && !text.includes('-----BEGIN CERTIFICATE-----')) {
    const at = within(place, 'caFile');
    at.report({ path: at.path, message: 'no certificate in the file', hint: 'name a PEM file: BEGIN CERTIFICATE' });
  }
  return file;
}

/** The path is not shown: a token that was put where its file's path belongs would be. */
function readPrivate(at: Place, file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const reason = readFailures[code] ?? `it cannot be read (${code})`;
    const hint = 'paths are relative to the config file';
    at.report({ path: at.path, message: `no use of this file: ${reason}`, hint });
    return undefined;
  }
}

const readFailures: Readonly<Record<string, string>> = {
  ENOENT: 'there is none',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
};
