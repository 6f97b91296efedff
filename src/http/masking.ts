/** Text of others, such as what a server answered, fit for a message. */

/** On one line of at most `charactersMax`, without control characters or anything secret. */
export function oneLine(text: string, secrets: readonly string[], charactersMax: number): string {
  let line = clean(text);
  for (const secret of maskable(secrets)) line = line.replaceAll(clean(secret), '***');
  const shown = [...line].slice(0, charactersMax).join('');
  return shown.length < line.length ? `${shown}…` : shown;
}

function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** Longest first, so that no part of one is left standing, and in the ways that answers write text. */
function maskable(secrets: readonly string[]): string[] {
  const words = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  const forms = words.flatMap((word) => [word, encodeURIComponent(word), JSON.stringify(word).slice(1, -1)]);
  // What is shorter is no secret, and masking it would only garble the line.
  return [...new Set(forms)].filter((form) => form.trim().length > 3).sort((a, b) => b.length - a.length);
}
