/** Which names stand for a secret, wherever the emulator writes something down. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSecretName } from '../../src/emulator/secret-names.ts';
import { maskBody, maskParameters } from '../../src/emulator/secrets.ts';

const secrets = [
  'key, api key, private key, access key id, x api key, ssh keys, pass key, key 2, idempotency key',
  'token, tokens, access token, refresh token, id token, x csrf token, token value, author token',
  'auth, oauth, authorization, proxy authorization, www authenticate, authentication, x auth',
  'pass, password, passwords, passwd, passphrase, passcode, db pass, current password hash',
  'secret, secrets, client secret, secret access key, cookie, cookies, set cookie, jwt, jwts',
  'session, session id, sessid, credential, credentials, signature, x amz signature',
  'code verifier, client assertion, monkey key, keyword secret, keyboard password, type key',
].flatMap((line) => line.split(', '));

const ordinary = [
  'author, authors, author id, coauthor, authored by, authority, authentic, authenticity',
  'passenger, passengers, passengers count, compass, bypass, passed, passive, passage, passion',
  'monkey, monkeys, donkey, turkey, hockey, keyword, keywords, keyboard, keyframe, keyframes',
  'key frame, key frames, keynote, keypoints, tokenizer, secretary, possession, possessions',
  // Of the discovery and the registration of a login, and of its answers.
  'authorization endpoint, token endpoint, authorization servers, token endpoint auth method, token type',
  'token endpoint auth methods supported, id token signed response alg, id token signing alg values supported',
  'slug, name, prompt text, next cursor, ratio, list ok entries, group assets, take year',
].flatMap((line) => line.split(', '));

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

const spellings: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join('-'),
  (words) => words.join('_'),
  (words) => words.join('.'),
  (words) => words.join(' '),
  (words) => words.map(capital).join('-'),
  (words) => words.map(capital).join(''),
  (words) => words.map((word, index) => (index === 0 ? word : capital(word))).join(''),
  (words) => words.join('_').toUpperCase(),
];

function spelled(names: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...spellings))
    .map(([name, spelling]) => spelling(name.split(' ')));
}

const everySpelling = (names: readonly string[]): string[] =>
  names.flatMap((name) => spellings.map((spelling) => spelling(name.split(' '))));

test('a name of a secret is one in every spelling', () => {
  expect(everySpelling(secrets).filter((name) => !isSecretName(name))).toEqual([]);
  expect(['apikey', 'APIKey', 'IDToken', 'TOKENid', 'accesstoken', 'userpass', 'commonkey'].every(isSecretName)).toBe(
    true,
  );
});

test('an ordinary name that has one in it by chance is none, in every spelling', () => {
  expect(everySpelling(ordinary).filter(isSecretName)).toEqual([]);
});

test('ordinary words around the name of a secret do not hide it', () => {
  const words = fc.array(
    spelled(ordinary.filter((name) => !/(type|alg|method|supported|endpoint|servers)$/.test(name))),
  );
  fc.assert(
    fc.property(words, spelled(secrets), (before, name) => {
      expect(isSecretName([...before, name].join('_'))).toBe(true);
    }),
  );
});

test('what a secret name holds is masked in JSON and in addresses, and what an ordinary one holds is not', () => {
  fc.assert(
    fc.property(spelled(secrets), spelled(ordinary), (name, other) => {
      expect(maskBody(JSON.stringify({ [name]: 's3cret', [other]: ['kept'] }))).toBe(
        JSON.stringify({ [name]: '***', [other]: ['kept'] }),
      );
      const [secretKey, key] = [name, other].map((written) => written.replaceAll(' ', '+'));
      expect(maskParameters(`/a?${secretKey}=s3cret&${key}=kept`)).toBe(`/a?${secretKey}=***&${key}=kept`);
    }),
  );
});

test('the names that a refusal does not know stay, and other lists of keys are masked', () => {
  const refusal = { code: 'unrecognized_keys', keys: ['colour', 'api_key'], path: [], message: 'Unrecognized keys' };
  const answer = JSON.stringify({ error: 'Validation of body failed', issues: [refusal, { keys: ['s3cret'] }] });
  expect(maskBody(answer)).toBe(answer.replace('s3cret', '***'));
  expect(maskBody(JSON.stringify({ text: answer }))).toBe(JSON.stringify({ text: answer.replace('s3cret', '***') }));
});
