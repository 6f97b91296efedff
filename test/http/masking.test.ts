import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isClean, mask, oneLine, secretsIn } from '../../src/http/masking.ts';

describe('a text of others', () => {
  test('is one short line without control characters and without the tags of a page', () => {
    expect(oneLine('a\r\n\u001b[31mb\u202e\tc', [])).toBe('a [31mb c');
    expect(oneLine('<html><b>Log in</b></html>', [])).toBe('Log in');
    expect(oneLine('x'.repeat(400), [], 10)).toBe(`${'x'.repeat(10)}…`);
  });

  test('that opens very many tags and closes none takes no longer than any other', () => {
    expect(oneLine('<'.repeat(64 * 1024), [], 3)).toBe('<<<…');
  });

  test('has its secrets masked, also word by word and as addresses and JSON write them', () => {
    const secret = 'Basic pa"ss/word';
    const said = `${secret} | pa"ss/word | ${encodeURIComponent('pa"ss/word')} | ${JSON.stringify(secret)}`;
    expect(mask(said, [secret])).toBe('*** | *** | *** | "***"');
  });

  test('has a short secret masked only where it stands alone', () => {
    expect(mask('no, not now: no', ['no'])).toBe('***, not now: ***');
  });

  test('never shows a secret of six characters or more, wherever it is cut', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9+/=_.-]{6,40}$/);
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), fc.nat(400), (hidden, before, after, charactersMax) => {
        expect(oneLine(`${before}${hidden}${after}`, [hidden], charactersMax)).not.toContain(hidden);
      }),
    );
  });
});

test('the secrets of an address are its user and password, the values of its query and the keys in its path', () => {
  const url = new URL('https://ann:p%40ss@hooks.example.com/reports/AbCdEf0123456789/x.csv?key=k1&sig=a%2Fb');
  const secrets = secretsIn(url);
  expect(secrets).toEqual(expect.arrayContaining(['ann', 'p%40ss', 'p@ss', 'AbCdEf0123456789', 'k1', 'a/b']));
  expect(secrets).not.toContain('reports');
  expect(secretsIn(new URL('https://x/%zz-which-cannot-be-decoded'))).toContain('%zz-which-cannot-be-decoded');
});

test('an error is kept as a cause only where neither it nor its own cause tells a secret', () => {
  const inner = new Error('at https://x/?key=hunter22');
  expect(isClean(new Error('fine'), ['hunter22'])).toBe(true);
  expect(isClean(inner, ['hunter22'])).toBe(false);
  expect(isClean(new Error('outer', { cause: inner }), ['hunter22'])).toBe(false);
});
