/** Texts of others, such as what a server answered, made fit for a message: short, on one line, and without anything secret. */

const shownMax = 300;
/** Keys that stand in a path are long; names of reports mostly are not. */
const keyMin = 16;

/** On one line of at most `charactersMax`, without control characters, the tags of a web page, or anything secret. */
export function oneLine(text: string, secrets: readonly string[], charactersMax = shownMax): string {
  const words = /^\s*</.test(text) ? text.replace(/<[^<>]*>/g, ' ') : text;
  const line = mask(clean(words), secrets.map(clean));
  const shown = [...line].slice(0, charactersMax).join('');
  return shown.length < line.length ? `${shown}…` : shown;
}

/** Every secret becomes `***`, also word by word, in the ways that answers and addresses write text, and within base64. */
export function mask(text: string, secrets: readonly string[]): string {
  const forms = formsOf(secrets);
  let masked = maskEncoded(text, forms);
  for (const form of forms) masked = masked.replaceAll(patternOf(form), '***');
  return masked;
}

/** Headers that let somebody in, as clients print what they send: all that follows on their line becomes `***`. */
export function maskHeaders(text: string): string {
  return text.replace(
    /((?:authorization|cookie|x-api-key|x-auth-token)['"]?\s*[:=][^\S\r\n]*)[^\s][^\r\n]*/gi,
    '$1***',
  );
}

/** Whether an error of somebody else, kept as a cause, tells nothing secret. */
export function isClean(error: unknown, secrets: readonly string[]): boolean {
  if (!(error instanceof Error)) return false;
  const said = `${error.message}\n${error.stack}`;
  return mask(said, secrets) === said && (error.cause === undefined || isClean(error.cause, secrets));
}

/** The parts of an address that may be secret: user and password, values of its query, and what looks like a key in its path. */
export function secretsIn({ username, password, searchParams, pathname }: URL): readonly string[] {
  const keys = pathname.split('/').filter((segment) => segment.length >= keyMin);
  const written = [username, password, ...keys];
  return [...written, ...written.map(decode), ...searchParams.values()];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It is not percent-encoded, so it has no other form.
    return text;
  }
}

function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** The longest first, so that no part of one is left standing. */
function formsOf(secrets: readonly string[]): string[] {
  const words = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  const forms = words.flatMap((word) => [word, encodeURIComponent(word), JSON.stringify(word).slice(1, -1)]);
  return [...new Set(forms)].filter((form) => form.trim() !== '').sort((a, b) => b.length - a.length);
}

/** So many characters of base64 hold the shortest text that is looked for in them. */
const encodedMin = 6;
const encoded = new RegExp(String.raw`[\w+/-]{${encodedMin},}={0,2}`, 'g');

/**
 * Runs of base64 that hold a secret, alone or beside a user, become `***`. What stands before it may be of the same letters, so that a
 * run is decoded from each of its first four on.
 */
function maskEncoded(text: string, forms: readonly string[]): string {
  if (forms.length === 0) return text;
  const long = forms.filter((form) => !isShort(form)).flatMap(bytesOf);
  const short = forms.filter(isShort).map(patternOf);
  return text.replace(encoded, (run) => {
    const decoded = [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64'));
    const isSecret = decoded.some(
      (bytes) => long.some((secret) => bytes.includes(secret)) || (short.length > 0 && holdsShort(bytes, short)),
    );
    return isSecret ? '***' : run;
  });
}

/** As clients write it into a header: most in UTF-8, some in Latin-1. */
function bytesOf(secret: string): readonly Buffer[] {
  const isLatin = /[\u0080-\u00FF]/.test(secret) && !/[\u0100-\uFFFF]/.test(secret);
  return [Buffer.from(secret), ...(isLatin ? [Buffer.from(secret, 'latin1')] : [])];
}

/** By chance a short one stands in many bytes, but not in those of a text. */
function holdsShort(bytes: Buffer, patterns: readonly RegExp[]): boolean {
  const text = bytes.toString();
  return !/[\p{Cc}\uFFFD]/u.test(text) && patterns.some((pattern) => text.search(pattern) >= 0);
}

function isShort(secret: string): boolean {
  return secret.length < 6;
}

/** A short one is masked only where it stands alone: within words it would garble the message, and show itself by that. */
function patternOf(secret: string): RegExp {
  const literal = secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(isShort(secret) ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal, 'gu');
}
