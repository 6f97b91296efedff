/** `destination:`, where snapshots go. Its secrets are checked, but not kept in the settings. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type DestinationSettings, type Secret, type Settings, unsetAddress } from '../core/settings.ts';
import { hasCertificate, isHeaderName, isToken, protocolHeaders } from '../http/credentials.ts';
import { destinationShape } from './agent-keys.ts';
import type { Environment } from './document.ts';
import { reportMissing } from './fields.ts';
import { type Cursor, isMapping, keysAt, spotOf, within, writtenAt } from './cursor.ts';
import { type Fields, readFields } from './fields.ts';

type Target = Pick<Settings, 'destination' | 'shouldDeleteMissing' | 'stamp'>;

export interface Surroundings {
  /** Absolute: what paths are relative to. */
  readonly baseDir: string;
  readonly secrets: Environment['secrets'];
}

/** Headers that the agent sets itself. Another value would break the request or be untrue. */
const ownHeaders = new Set([...protocolHeaders, 'content-encoding', 'content-type', 'user-agent']);

/** Reads `destination` and reports what is wrong without showing any of its texts. */
export function readDestination(cursor: Cursor, surroundings: Surroundings): Target {
  const written = writtenAt(cursor);
  const emulator: Target = { destination: 'emulator', shouldDeleteMissing: true, stamp: 'middle' };
  if (spotOf(cursor) === undefined) reportMissing(cursor, 'emulator');
  else if (written !== undefined && written !== 'emulator' && !isMapping(written)) {
    const hint = 'an address is written as destination: { url: … }';
    cursor.report({ path: cursor.path, message: 'expected "emulator" or a mapping with url', hint });
  }
  if (!isMapping(written)) return emulator;
  const fields = readFields(cursor, destinationShape) as Required<Fields<typeof destinationShape>>;
  const keys = keysAt(cursor);
  if (keys.includes('token') && keys.includes('tokenFile')) {
    const at = within(cursor, 'tokenFile');
    at.report({ path: at.path, on: 'key', message: 'token and tokenFile are both there', hint: 'keep one of the two' });
  }
  checkHeaders(cursor, keys.includes('token') || keys.includes('tokenFile'));
  return {
    destination: {
      url: fields.url ?? unsetAddress,
      token: readToken(cursor, fields, surroundings),
      headers: fields.headers,
      timeoutMs: fields.timeout,
      compress: fields.compress,
      caFile: readCaFile(cursor, fields.caFile, surroundings),
    } satisfies DestinationSettings,
    shouldDeleteMissing: fields.shouldDeleteMissing,
    stamp: fields.stamp,
  };
}

function checkHeaders(cursor: Cursor, hasToken: boolean): void {
  const at = within(cursor, 'headers');
  const seen = new Set<string>();
  for (const key of keysAt(at)) {
    const name = key.toLowerCase();
    const report = (message: string, hint: string): void =>
      at.report({ path: [...at.path, key], on: 'key', message, hint });
    if (!isHeaderName(name)) report('not a name for a header', 'use letters, digits and "-"');
    else if (ownHeaders.has(name)) report(`the agent sets the header ${name} itself`, 'remove it');
    else if (name === 'authorization' && hasToken)
      report('token already sets the header authorization', 'keep one of the two');
    else if (seen.has(name)) report(`the header ${name} is written twice`, 'keep one of the two');
    seen.add(name);
  }
}

function readToken(
  cursor: Cursor,
  { token, tokenFile }: Fields<typeof destinationShape>,
  surroundings: Surroundings,
): Secret | undefined {
  if (tokenFile !== undefined) {
    return { kind: 'file', file: readTokenFile(within(cursor, 'tokenFile'), tokenFile, surroundings) };
  }
  if (token === undefined || spotOf(within(cursor, 'token'))?.unset === true) return undefined;
  return { kind: 'text', text: token };
}

/** The absolute path of a file with a token, whose content is checked where secrets are required. */
export function readTokenFile(at: Cursor, tokenFile: string, { baseDir, secrets }: Surroundings): string {
  const file = path.resolve(baseDir, tokenFile);
  const text = secrets === 'required' ? readPrivate(at, file) : undefined;
  if (text?.trim() === '') {
    at.report({ path: at.path, message: 'the token file is empty', hint: 'write the token into it' });
  } else if (text !== undefined && !isToken(text.trim())) {
    const hint = 'it holds the token alone: look for white space or line ends within';
    at.report({ path: at.path, message: 'the token in the file has a character that tokens cannot have', hint });
  }
  return file;
}

function readCaFile(
  cursor: Cursor,
  caFile: string | undefined,
  { baseDir, secrets }: Surroundings,
): string | undefined {
  if (caFile === undefined) return undefined;
  const file = path.resolve(baseDir, caFile);
  const text = secrets === 'required' ? readPrivate(within(cursor, 'caFile'), file) : undefined;
  if (text !== undefined && !hasCertificate(text)) {
    const at = within(cursor, 'caFile');
    at.report({ path: at.path, message: 'no certificate in the file', hint: 'name a PEM file: BEGIN CERTIFICATE' });
  }
  return file;
}

/** Does not show the path: somebody may have written the token itself there. */
function readPrivate(at: Cursor, file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const reason = readFailures[code] ?? `it cannot be read (${code})`;
    const hint =
      code === 'ENOENT' && file.startsWith('/run/credentials/')
        ? 'systemd shows it to the unit alone, while that runs: "driver-sync plan" needs no token, and the journal says what the unit finds'
        : 'paths are relative to the config file';
    at.report({ path: at.path, message: `this file is of no use: ${reason}`, hint });
    return undefined;
  }
}

const readFailures: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
};
