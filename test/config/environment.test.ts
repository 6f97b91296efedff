import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { substitute } from '../../src/config/environment.ts';
import { problems, rest, settings, source } from '../support/config-world.ts';

describe('variables in texts', () => {
  const env = { SET: 'value', EMPTY: '' };

  test.each([
    ['a ${SET} b', 'a value b'],
    ['${SET}${SET}', 'valuevalue'],
    ['${EMPTY}', ''],
    ['${SET:-x}', 'value'],
    ['${NOT:-x}', 'x'],
    ['${EMPTY:-x}', 'x'],
    ['${NOT:-}', ''],
    ['${NOT:-a:b c}', 'a:b c'],
    ['${SET:?message}', 'value'],
    ['$${SET}', '${SET}'],
    ['$$${SET}', '$${SET}'],
    ['$SET {SET} $ $$', '$SET {SET} $ $$'],
    ['{amount}', '{amount}'],
  ])('%s is %s', (text, result) => {
    expect(substitute(text, env)).toMatchObject({ text: result, failures: [] });
  });

  test('a text without "${" is left alone', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('${'));
        expect(substitute(text, {})).toEqual({ text, names: [], failures: [] });
      }),
    );
  });

  test('what a variable holds is not read again', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, value) => {
        fc.pre(!before.includes('$'));
        expect(substitute(`${before}\${A}`, { A: value, B: 'no' }).text).toBe(before + value);
      }),
    );
    expect(substitute('${A}', { A: '${B}', B: 'no' }).text).toBe('${B}');
  });
});

describe('variables in a config', () => {
  test('cannot bring in YAML, and make no keys', () => {
    expect(settings(`state: \${A}${rest}`, { env: { A: '/x: { y: z }' } }).state).toBe('/x: { y: z }');
    expect(problems(`"\${A}": x${rest}`, { env: { A: 'state' } })[0]).toContain('unknown key "${A}"');
  });

  test('are numbers and booleans where they stand without quotes', () => {
    const env = { FLOOR: '7', EMPTY: 'true' };
    expect(settings(`guard: { floor: "\${FLOOR}" }${rest}`, { env }).guard.floor).toBe(7);
    expect(source('    mayBeEmpty: ${EMPTY}', { env }).mayBeEmpty).toBe(true);
    expect(source('    where: { a: "${FLOOR}" }', { env }).mapping.where).toEqual([
      { column: 'a', test: { kind: 'oneOf', texts: ['7'] } },
    ]);
    expect(source('    where: { a: "${CODE}" }', { env: { CODE: '007' } }).mapping.where).toEqual([
      { column: 'a', test: { kind: 'oneOf', texts: ['007'] } },
    ]);
  });

  test.each([
    [
      'state: /a/${NOT}',
      '1:11 state: the environment variable NOT is not set (set NOT where the agent is started, or write ${NOT:-default})',
    ],
    [
      'state: "${NOT:?the state}"',
      '1:9 state: the environment variable NOT is not set: the state (set NOT where the agent is started, or write ${NOT:-default})',
    ],
    [
      'state: ${A-b}',
      '1:8 state: a "${" that names no variable (write ${NAME}, ${NAME:-default} or ${NAME:?message}, and $${ for a plain "${")',
    ],
    [
      'state: ${NOT:-${A}}',
      '1:8 state: a "${" that names no variable (write ${NAME}, ${NAME:-default} or ${NAME:?message}, and $${ for a plain "${")',
    ],
    [
      'state: ${A',
      '1:8 state: a "${" that names no variable (write ${NAME}, ${NAME:-default} or ${NAME:?message}, and $${ for a plain "${")',
    ],
  ])('%s', (yaml, problem) => {
    expect(problems(yaml + rest, { env: { A: 'a' } })).toEqual([problem]);
  });

  test('are all named at once', () => {
    const yaml = 'destination:\n  url: ${URL}\n  token: ${TOKEN}\nsources: {}\n';
    expect(problems(yaml).map((problem) => problem.split(' (')[0])).toEqual([
      '2:8 destination.url: the environment variable URL is not set',
      '3:10 destination.token: the environment variable TOKEN is not set',
    ]);
  });
});

describe('what a variable holds is never shown', () => {
  const secret = 'hunter2';
  const driver = (value: string): string => `drivers: [{ path: [a], time: "{t}", value: ${value} }]`;
  const inSource = (lines: string): string =>
    `destination: emulator\nsources:\n  s: { type: csv, files: [a], ${lines.includes('drivers') ? lines : `${lines}, ${driver('"{v}"')}`} }\n`;

  test.each([
    ['timezone: ${S}' + rest],
    ['schedule: ${S}' + rest],
    ['schedule: "${S} * * * *"' + rest],
    ['refresh: ${S}' + rest],
    ['guard: { firstPush: ${S}, floor: ${S} }' + rest],
    ['destination: ${S}\nsources: {}\n'],
    ['destination: { url: ${S} }\nsources: {}\n'],
    ['destination: { url: "http://a", token: "${S}\\n" }\nsources: {}\n'],
    ['destination: { url: "http://a", tokenFile: ${S} }\nsources: {}\n'],
    ['destination: { url: "http://a", headers: { A: "${S}\\n" } }\nsources: {}\n'],
    ['destination: emulator\nsources: { s: { type: ${S} } }\n'],
    [inSource('encoding: ${S}')],
    [inSource('delimiter: ${S}')],
    [inSource('where: { a: { matches: "(${S}" } }')],
    [inSource(driver('"{v|${S}}"'))],
    [inSource(driver('"{v|map:${S}}"'))],
    [inSource(driver('{ from: "{v}", decimal: ${S}, scale: ${S}, group: ${S} }'))],
    [inSource('drivers: [{ path: [a], time: { from: "{t}", format: [iso, "${S}"], locale: "${S}" }, value: "{v}" }]')],
    [inSource('drivers: [{ path: [a], time: { from: "{t}", format: [iso, "${S}"] }, value: "{v}" }]')],
  ])('%s', (yaml) => {
    const found = problems(yaml, { env: { S: secret } });
    expect(found).not.toEqual([]);
    expect(found.join('\n')).not.toContain(secret);
  });

  test('but its name is', () => {
    expect(problems(`timezone: \${S}${rest}`, { env: { S: secret } })).toEqual([
      '1:11 timezone: expected an IANA time zone such as Europe/Berlin or UTC; it comes from ${S}',
    ]);
  });
});

describe('for a command that only looks', () => {
  const yaml = `timezone: \${ZONE}
pushOnChange: \${QUIET}
destination:
  url: \${URL}
  token: \${TOKEN}
  caFile: ca.pem
  timeout: \${TIMEOUT}
guard: { floor: "\${FLOOR}" }
sources:
  s:
    type: csv
    files: ["\${DIR}/*.csv"]
    settle: \${SETTLE}
    where: { a: { matches: "\${RE}" } }
    drivers:
      - id: "\${ID}/{a|map:\${MAP}}"
        path: [a]
        time: { from: "{t}", format: ["\${FORMAT}"], locale: "\${LOCALE}" }
        value: { from: "{v}", decimal: "\${MARK}", scale: "\${SCALE}" }
        collapse: \${RULE}
`;

  test('unset variables and unreadable files are no problem, and defaults stand in', () => {
    const made = settings(yaml, { secrets: 'optional' });
    expect(made).toMatchObject({
      timezone: 'UTC',
      guard: { floor: 5 },
      destination: { token: undefined, timeoutMs: 60_000 },
    });
    expect(made.sources[0]).toMatchObject({
      name: 's',
      kind: { settle: 2000 },
      mapping: { drivers: [{ rule: 'last' }] },
    });
    expect(
      settings('destination: { url: http://a, tokenFile: f }\nsources: {}\n', { secrets: 'optional' }).destination,
    ).toMatchObject({ token: { kind: 'file' } });
  });

  test('and the file as it is written is told from another one, whatever the variables are', () => {
    const digest = (text: string, env = {}): string => settings(text, { secrets: 'optional', env }).writtenDigest;
    expect(digest(`# a comment\n${yaml}`, { ZONE: 'Europe/Berlin', FLOOR: '7', TOKEN: 'other' })).toBe(digest(yaml));
    expect(digest(yaml.replace('${TOKEN}', '${OTHER}'))).not.toBe(digest(yaml));
    const zone = (written: string): string => digest(`timezone: ${written}${rest}`, { ZONE: 'UTC' });
    const all = ['UTC', '${ZONE}', '${ZONE:-UTC}', '${ZONE:-Europe/Berlin}', '${UTC}'].map(zone);
    expect(new Set(all).size).toBe(5);
  });

  test('everything else still is a problem', () => {
    expect(problems(`${yaml}refresh: 5\n`, { secrets: 'optional' })).toEqual([
      '21:10 refresh: expected a duration such as 30s, 20h or 400d, found 5 (write 5s, 5m, 5h or 5d)',
    ]);
  });

  test('and so is a state directory that depends on an unset variable', () => {
    expect(problems(`state: /a/\${NOT}${rest}`, { secrets: 'optional' })).toEqual([
      '1:8 state: a variable that is not set; it comes from ${NOT} (every command needs the state directory)',
    ]);
  });
});
