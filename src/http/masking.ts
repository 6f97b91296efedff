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

/** Every secret becomes `***`, also word by word and in the ways that answers and addresses write text. */
export function mask(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const form of formsOf(secrets)) masked = masked.replaceAll(patternOf(form), '***');
  return masked;
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

/** A short one is masked only where it stands alone: within words it would garble the message, and show itself by that. */
function patternOf(secret: string): RegExp {
  const literal = secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const isShort = secret.length < 6;
  return new RegExp(isShort ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal, 'gu');
}
