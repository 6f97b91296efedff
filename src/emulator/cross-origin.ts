/** CORS: lets pages of the origins that were allowed read the answers. Pages of others are refused before. */

const preflightSeconds = 600;

/** The headers of answers that a page may read beside the usual ones. */
const readable =
  'x-request-id, retry-after, retry-after-ms, x-should-retry, x-emulator-warning, allow, www-authenticate, mcp-session-id, mcp-protocol-version';

/** The answer to the question that a browser asks before a request; undefined for other requests. */
export function preflightAnswer(request: Request, origin: string): Response | undefined {
  const method = request.headers.get('access-control-request-method');
  if (request.method !== 'OPTIONS' || method === null) return undefined;
  const asked = request.headers.get('access-control-request-headers');
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': method,
      ...(asked !== null && { 'access-control-allow-headers': asked }),
      'access-control-max-age': String(preflightSeconds),
      vary: 'Origin',
    },
  });
}

/** Endpoints of the agents' login set their own headers, which stay. */
export function letPageRead(response: Response, origin: string): void {
  const { headers } = response;
  if (headers.has('access-control-allow-origin')) return;
  headers.set('access-control-allow-origin', origin);
  headers.set('access-control-expose-headers', readable);
  headers.append('vary', 'Origin');
}
