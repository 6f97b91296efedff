/** Masks what may be a secret in headers, addresses and bodies, wherever the emulator writes something down. */
import { isSecretName } from './secret-names.ts';

/** Parameters of OAuth and of signed links that hold a secret, by their whole name. */
const secretParameters = new Set(['code', 'state', 'sig', 'pwd']);

export function maskedHeaders(headers: Headers): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const [name, value] of headers) masked[name] = maskSecret(name, value);
  return masked;
}

function maskSecret(name: string, value: string): string {
  // Some headers hold an address with a query, such as `referer`.
  if (!isSecretName(name)) return maskParameters(value);
  const scheme = name.endsWith('authorization') ? /^\w+ (?=.)/.exec(value)?.[0] : undefined;
  return `${scheme ?? ''}***`;
}

/** A name without control characters: in bytes that are no text, few things look like one. */
const parameter = /(^|[?&;#"'\s])([^=?&;#\s"'\p{Cc}]{1,200})=[^&;#\s"\\]*(?:\\(?!")[^&;#\s"\\]*)*/gu;
const userInfo = /:\/\/[^\s/?#"'<>\\]+@/g;

/** Masks parameters, wherever one can begin, and who an address says that is asking. */
export function maskParameters(text: string): string {
  const named = text.includes('@') ? text.replaceAll(userInfo, '://***@') : text;
  if (!named.includes('=')) return named;
  return named.replaceAll(parameter, (all, before: string, name: string) =>
    isSecretParameter(name) ? `${before}${name}=***` : all,
  );
}

function isSecretParameter(encodedName: string): boolean {
  // URLSearchParams decodes the name, and leaves it as it is where it cannot be decoded.
  const [name = ''] = new URLSearchParams(`${encodedName}=`).keys();
  return isSecretName(name) || secretParameters.has(name.toLowerCase());
}

/** JSON within other text, such as an event of a stream. */
const embeddedJson = /[{[].*/g;
/** A member of JSON on a line of its own, whose value is a string that may have been cut. */
const textMember = /"((?:[^"\\]|\\.){1,100})"(\s*:\s*)"[^"\\]*(?:\\.[^"\\]*)*("|\\?$)/g;

/** A body as text, which may have been cut. What is no secret stays as it is, digit by digit. */
export function maskBody(text: string): string {
  const [first] = text.trimStart();
  if (first === '{' || first === '[') return maskJson(text);
  const masked = text
    .replaceAll(embeddedJson, maskJson)
    .replaceAll(textMember, (all, name: string, colon: string, end: string) =>
      isSecretName(name) ? `"${name}"${colon}"***${end}` : all,
    );
  return maskParameters(masked);
}

/** A body that is not text all through, such as a form with a file in it. */
export function maskBytes(bytes: Buffer): Buffer {
  return Buffer.from(maskBody(bytes.toString('latin1')), 'latin1');
}

/** An open object or list. */
interface Open {
  /** Whether all in it is secret. */
  readonly isSecret: boolean;
  /** Whether it is zod's refusal of unknown names, whose `keys` are these names. Its `code` stands before them. */
  isOfNames: boolean;
}

/** Masks every string that a secret member holds, at any depth, and what is secret within other strings. */
function maskJson(text: string): string {
  const masked: string[] = [];
  const open: Open[] = [];
  let [isSecret, copied] = [false, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') open.push({ isSecret, isOfNames: false });
    else if (character === '}' || character === ']') open.pop();
    if (character === '}' || character === ']' || character === ',') isSecret = open.at(-1)?.isSecret ?? false;
    if (character !== '"') continue;
    const end = endOfString(text, at);
    const string = text.slice(at, end);
    const isName = isNameBefore(text, end);
    const shown = isSecret && !isName ? `"***${isClosed(string) ? '"' : ''}` : maskWithin(string);
    const within = open.at(-1);
    if (isName) isSecret = (within?.isSecret ?? false) || isSecretMember(decoded(string) ?? string, within);
    else if (within !== undefined && string === '"unrecognized_keys"') within.isOfNames = true;
    if (shown !== string) {
      masked.push(text.slice(copied, at), shown);
      copied = end;
    }
    at = end - 1;
  }
  masked.push(text.slice(copied));
  return masked.join('');
}

function isSecretMember(name: string, within: Open | undefined): boolean {
  return isSecretName(name) && !(name === 'keys' && within?.isOfNames === true);
}

/** Behind its closing quote; where the text was cut, its end. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === '\\') at += 1;
  }
  return text.length;
}

function isNameBefore(text: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

function isClosed(string: string): boolean {
  return string.length > 1 && /(?<!\\)(?:\\\\)*"$/.test(string);
}

/** Masks what a string of JSON says: parameters, or JSON again. */
function maskWithin(string: string): string {
  // Both need one of these.
  if (!/[=@\\]/.test(string)) return string;
  const said = decoded(string);
  if (said === undefined) return maskParameters(string);
  const masked = maskBody(said);
  if (masked === said) return string;
  const written = JSON.stringify(masked);
  return isClosed(string) ? written : written.slice(0, -1);
}

/** Undefined for a string that is none of JSON. */
function decoded(string: string): string | undefined {
  // Without an escape that the cut has gone through.
  const whole = isClosed(string) ? string : `${string.replace(/(?<!\\)((?:\\\\)*)\\(?:u[\da-f]{0,3})?$/i, '$1')}"`;
  try {
    return JSON.parse(whole) as string;
  } catch {
    return undefined;
  }
}
