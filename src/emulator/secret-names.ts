/** Tells from its name whether a header, a parameter or a member of JSON holds a secret. Where that is not sure, it does. */

/** What secrets are called, alone or within a word: `apikey`, `userpass`. */
const secret = /auth|cookie|token|secret|key|pass|sess(?:ion|id)|credential|signature|assertion|verifier|jwt/i;

/** How ordinary words begin that have one of these in them by chance. */
const ordinary = new RegExp(
  `^(?:${[
    '(?:co)?author(?!i[sz])|authentic(?!at)',
    '(?:en)?compass|(?:by|sur|tres|over|under|low|high|band|all)pass|pass(?:age|enger|ed|ing|ion|ive)',
    'key(?:frame|word|board|note|pad|stone|hole|stroke|point|press|less|ed|ing)',
    '(?:mon|don|tur|hoc|joc|whis|lac|turn|hot)key',
    'tokeni[sz]|secretar|secretion|secretly|(?:pos|ob)session',
  ].join('|')})+`,
);

/** What a name ends in that says something about a secret, as in `token_type` and `authorization_endpoint`. */
const about = new Set(['alg', 'endpoint', 'endpoints', 'method', 'methods', 'servers', 'supported', 'type', 'types']);

export function isSecretName(name: string): boolean {
  if (!secret.test(name)) return false;
  const words = wordsOf(name);
  if (about.has(words.at(-1) ?? '')) return false;
  return words.some((word) => secret.test(word.replace(ordinary, '')));
}

/** In lower case. A word ends at what is no letter and before a capital: `api-key2`, `apiKey`. `APIKey` counts as one. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/key\P{L}?frame/giu, 'keyframe')
    .split(/\P{L}+|(?<=\p{Ll})(?=\p{Lu})/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}
