import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isClean, mask, maskHeaders, oneLine, secretsIn } from '../../src/http/masking.ts';

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

describe('base64', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  test('that holds a secret is masked, alone, beside a user and behind other letters', () => {
    const secret = 'p@ss/w0rd 1';
    for (const text of [secret, `finance:${secret}`, `a:${secret}`, `an:${secret}`])
      expect(mask(`> Basic ${base64(text)} <`, [secret])).toBe('> Basic *** <');
    expect(mask(`/v1/${base64(secret)}`, [secret])).toBe('***');
  });

  test('in Latin-1 is masked, too', () => {
    expect(mask(Buffer.from('anna:Schlüssel', 'latin1').toString('base64'), ['Schlüssel'])).toBe('***');
  });

  test('of a short secret is masked where that stands alone in a text', () => {
    expect(mask(`${base64('ann:pw1')} ${base64('pwd1234')}`, ['pw1'])).toBe(`*** ${base64('pwd1234')}`);
  });

  test('of anything else, and words, are left as they are', () => {
    const text = `could not connect to ledger-2026.example.com/exports, ${base64('nothing of it is secret')}`;
    expect(mask(text, ['hunter22', 'pw'])).toBe(text);
  });

  test('never shows a secret of six characters or more, whatever it stands in', () => {
    const secret = fc.string({ minLength: 6, maxLength: 30, unit: 'grapheme' }).filter((text) => text.trim() !== '');
    const beside = fc.string({ maxLength: 12, unit: 'grapheme' });
    const letters = fc.stringMatching(/^[A-Za-z0-9+/ :=]{0,8}$/);
    const code = fc.constantFrom('base64', 'base64url');
    fc.assert(
      fc.property(
        fc.tuple(secret, code, fc.boolean()),
        fc.tuple(beside, beside),
        fc.tuple(letters, letters),
        ([hidden, coding, isPadded], [user, more], [before, after]) => {
          const whole = Buffer.from(user + hidden + more).toString(coding);
          const written = isPadded ? whole : whole.replace(/=+$/, '');
          expect(mask(before + written + after, [hidden])).not.toContain(written);
        },
      ),
    );
  });
});

test('what follows the name of a header that lets somebody in is masked to the end of its line', () => {
  const said = [
    '> GET / HTTP/1.1',
    '> Authorization: Basic abc def',
    '< set-cookie: id=1; Path=/\r',
    "{'Proxy-Authorization': 'Digest x'}",
    '* [HTTP/2] [1] [x-api-key: k1]',
    '> Cookie:a=b',
    '> Cookie:',
    '> Accept: */*',
  ];
  expect(maskHeaders(said.join('\n')).split('\n')).toEqual([
    '> GET / HTTP/1.1',
    '> Authorization: ***',
    '< set-cookie: ***\r',
    "{'Proxy-Authorization': ***",
    '* [HTTP/2] [1] [x-api-key: ***',
    '> Cookie:***',
    '> Cookie:',
    '> Accept: */*',
  ]);
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
