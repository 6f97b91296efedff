/** Which headers are passed on, and which are written down. */
import { isSecretName } from '../secret-names.ts';
import { maskParameters } from '../secrets.ts';
import { decodableOf } from './plain.ts';

/** Headers between two neighbours, which a proxy does not pass on (RFC 9110, 7.6.1), beside `proxy-*` and what `connection` names. */
const ofConnection = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']);

/** Headers of a request that are for the recorder. */
const ofRecorder = new Set(['content-length', 'expect', 'host', 'origin', 'referer']);

export function passedRequestHeaders(headers: Headers): Headers {
  const passed = passedFrom(headers, (name) => !ofRecorder.has(name));
  const accepted = passed.get('accept-encoding');
  if (accepted !== null) passed.set('accept-encoding', decodableOf(accepted));
  return passed;
}

/** Whoever sends the body declares its length anew. */
export function passedAnswerHeaders(headers: Headers): Headers {
  return passedFrom(headers, (name) => name !== 'content-length');
}

/**
 * The headers of an answer that a recording has: without secrets, and without the time of the answer.
 * @param body how it is recorded
 */
export function tapedHeaders(headers: Headers, body: 'decoded' | 'as sent'): Record<string, string> {
  const left = new Set(body === 'decoded' ? ['date', 'content-encoding'] : ['date']);
  const kept = [...passedAnswerHeaders(headers)].filter(([name]) => !left.has(name) && !isSecretHeader(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, maskHeader(name, value)]));
}

function passedFrom(headers: Headers, isPassed: (name: string) => boolean): Headers {
  const named = new Set((headers.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const isOfConnection = (name: string): boolean =>
    ofConnection.has(name) || named.has(name) || name.startsWith('proxy-');
  return new Headers([...headers].filter(([name]) => !isOfConnection(name) && isPassed(name)));
}

/** Names that only tell of secrets: a challenge, the rules for other pages, and how many tokens of a model are left. */
const aboutSecrets = /^www-authenticate$|^access-control-|rate-?limit/;

function isSecretHeader(name: string): boolean {
  return isSecretName(name) && !aboutSecrets.test(name);
}

/** These two schemes carry a token in their challenge. */
const challengeToken = /\b(negotiate|ntlm) +[^,\s]+/gi;

function maskHeader(name: string, value: string): string {
  // An address in angle brackets ends with them, as in `link`.
  const masked = value.replaceAll(/[^<>]+/g, maskParameters);
  return name === 'www-authenticate' ? masked.replaceAll(challengeToken, '$1 ***') : masked;
}
