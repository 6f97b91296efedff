import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { codeOf, isTlsFailure, networkFailure, pageFailure, statusHint } from '../../src/http/failures.ts';
import { answering, push, rawReceiver } from '../support/destination-world.ts';
import { openSource } from '../support/source-world.ts';
import { failureOf } from '../support/web-world.ts';

const limits = { connectMs: 30_000, silenceMs: 60_000 };

function coded(code: string, message = 'said by the driver'): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  ['ENOTFOUND', 'the host is unknown: its name has no address (ENOTFOUND)', 'check the name of the host'],
  ['ECONNREFUSED', 'the connection was refused: nothing listens there (ECONNREFUSED)', 'server is running'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 30 s', 'firewalls'],
  ['UND_ERR_BODY_TIMEOUT', 'no byte moved for 60 s', 'stalls'],
  ['ECONNRESET', 'the connection was cut (ECONNRESET)', 'it is tried again'],
  ['CERT_HAS_EXPIRED', 'no safe connection: the certificate has expired (CERT_HAS_EXPIRED)', 'renew it'],
  ['CERT_NOT_YET_VALID', 'no safe connection: the certificate is not valid yet (CERT_NOT_YET_VALID)', 'clocks'],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'no safe connection: no authority that is known here vouches for the certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
    'caFile',
  ],
  ['HPE_INVALID_CONSTANT', 'what listens there does not speak HTTP (HPE_INVALID_CONSTANT)', 'check host and port'],
  ['EWHATEVER', 'the connection failed: said by the driver (EWHATEVER)', 'it is tried again'],
])('%s is said in words, with what to do', (code, why, hint) => {
  const failure = networkFailure(coded(code), [], limits);
  expect(failure.why).toBe(why);
  expect(failure.hint).toContain(hint);
});

test('a certificate of another host says whose it is', () => {
  const error = Object.assign(coded('ERR_TLS_CERT_ALTNAME_INVALID'), { cert: { subjectaltname: 'DNS:a.example' } });
  expect(networkFailure(error, [], limits).why).toContain('the certificate is for another host (DNS:a.example)');
});

test('a failure of TLS is known by its words too, where a driver put its own code over it', () => {
  for (const words of [
    'certificate has expired',
    'self-signed certificate',
    'unable to verify the first certificate',
  ]) {
    const error = coded('HANDSHAKE_SSL_ERROR', words);
    expect(isTlsFailure(error)).toBe(true);
    expect(networkFailure(error, [], limits).why).toMatch(/^no safe connection: /);
  }
  expect(isTlsFailure(coded('ECONNREFUSED'))).toBe(false);
});

test('a host of several addresses that all fail says why', () => {
  const all = Object.assign(new AggregateError([new Error('first'), new Error('second')], ''), { code: 'EOTHER' });
  expect(codeOf(all)).toBe('EOTHER');
  expect(networkFailure(all, [], limits).why).toBe('the connection failed: first, second (EOTHER)');
});

test('nothing secret is in the words of others', () => {
  const error = new Error('no way to https://ann:hunter22@proxy.example.com');
  expect(networkFailure(error, ['hunter22'], limits).why).not.toContain('hunter22');
});

describe('the same failure has the same words, whoever asked:', () => {
  /** What is said after the address that was asked. */
  async function sayings(url: string): Promise<readonly string[]> {
    const { detail = '' } = await push(url);
    const sources = ['http', 'routing'].map((type) => failureOf(openSource(type, { url }, '/')));
    const said = (await Promise.all(sources)).map(({ message, hint }) => `${message}; ${hint}`);
    return [detail, ...said].map((text) => text.replace(`${url}: `, ''));
  }

  test('a refused connection', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    await new Promise((closed) => server.close(closed));
    const said = await sayings(`http://127.0.0.1:${port}`);
    expect(new Set(said)).toEqual(
      new Set([
        'the connection was refused: nothing listens there (ECONNREFUSED); check host and port, and whether the server is running',
      ]),
    );
  });

  test('an unknown host', async () => {
    const said = await sayings('http://no-such-host.invalid');
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toMatch(/\((ENOTFOUND|EAI_AGAIN)\); check /);
  });

  test('a port that does not speak TLS', async () => {
    const said = await sayings((await answering(200)).replace('http:', 'https:'));
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toContain('what listens there does not speak TLS');
  });

  test('a connection that is cut', async () => {
    const url = await rawReceiver((socket) => void socket.once('data', () => socket.end()));
    for (const said of await sayings(url)) expect(said).toMatch(/^the connection was cut \(\w+\); /);
  });

  test('a login page', async () => {
    const page = '<!DOCTYPE html><title>Login</title>';
    for (const said of await sayings(await answering(200, page, { 'content-type': 'text/html' }))) {
      expect(said).toContain(pageFailure.why);
      expect(said).toContain(pageFailure.hint);
    }
  });

  test.each([401, 403, 407, 503])('an answer of %i', async (status) => {
    for (const said of await sayings(await answering(status))) {
      expect(said).toContain(`${status} `);
      // Whether it is tried again differs.
      expect(said).toContain(statusHint(status)?.replace(/: it is tried again.*/, ''));
    }
  });
});
