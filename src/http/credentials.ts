/** What a request carries to be let in, and whom it trusts: checked, read anew each time, and never shown. */
import { readFile } from 'node:fs/promises';
import { AgentError, type ErrorCode } from '../core/errors.ts';
import type { Secret } from '../core/settings.ts';
import { codeOf } from './failures.ts';

/** A file on a share that died is given up after this long. */
const fileMaxMs = 30_000;

export interface Reading {
  /** The code of the failure where a file or a token cannot be used. */
  readonly code: ErrorCode;
  readonly signal: AbortSignal;
}

/** The token as it is now. @throws AgentError of that code, or the signal's reason */
export async function readToken(secret: Secret | undefined, reading: Reading): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  // The path is not shown: a token that was put where its file's path belongs would be.
  const isFile = secret.kind === 'file';
  const text = isFile ? await readConfigFile('the file of tokenFile', secret.file, reading) : secret.text;
  const token = text.trim();
  if (isToken(token)) return token;
  const where = isFile ? 'the token in tokenFile' : 'the token';
  throw new AgentError(reading.code, `${where} ${token === '' ? 'is empty' : 'has a character that no token has'}`, {
    hint: isFile ? 'the file must hold the token and nothing else' : 'look for white space or line ends in it',
  });
}

/**
 * A password or key that stands in the config or alone in a file; `undefined` where neither is named. A line end behind it is
 * none of it. @throws AgentError of that code, or the signal's reason
 */
export async function readSecret(
  { text, file, what }: { readonly text: string | undefined; readonly file: string | undefined; readonly what: string },
  reading: Reading,
): Promise<string | undefined> {
  if (file === undefined) return text;
  const secret = (await readConfigFile(what, file, reading)).replace(/\r?\n$/, '');
  if (secret !== '') return secret;
  throw new AgentError(reading.code, `${what} is empty`, { hint: 'it must hold the secret and nothing else' });
}

/**
 * PEM texts of the authorities in a file and of those that Node trusts anyway, so that public servers stay reachable;
 * `undefined` where no file is named. @throws AgentError of that code, or the signal's reason
 */
export async function readAuthorities(caFile: string | undefined, reading: Reading): Promise<string[] | undefined> {
  if (caFile === undefined) return undefined;
  const pem = await readConfigFile(`the caFile ${caFile}`, caFile, reading);
  if (!hasCertificate(pem)) {
    throw new AgentError(reading.code, `the caFile ${caFile} holds no certificate`, { hint: 'it must be in PEM' });
  }
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), pem];
}

async function readConfigFile(what: string, file: string, { code, signal }: Reading): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(fileMaxMs)]);
  try {
    // `readFile` takes a signal too, but looks at it only between two calls of the kernel.
    return await Promise.race([readFile(file, 'utf8'), aborted(limit)]);
  } catch (cause) {
    signal.throwIfAborted();
    const why = limit.aborted ? `within ${fileMaxMs / 1000} s` : `(${codeOf(cause) || 'unreadable'})`;
    throw new AgentError(code, `${what} cannot be read ${why}`, {
      hint:
        codeOf(cause) === 'ENOENT'
          ? 'there is no such file: paths are relative to the config file'
          : 'check that file, and who may read it',
    });
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** What a header can carry as one word. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Whether a text holds a certificate in PEM. */
export function hasCertificate(text: string): boolean {
  return text.includes('-----BEGIN CERTIFICATE-----');
}

/** What HTTP takes as the value of a header: a key from a file often drags a line end along. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** What HTTP takes as the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** Headers that HTTP itself says: another value would break the request. */
export const protocolHeaders: readonly string[] =
  'connection content-length expect host keep-alive proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  );

/** Whether user and password of an address are percent-encoded as they have to be. */
export function hasReadableUser({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    // The platform throws a URIError for a wrong encoding.
    return false;
  }
}
