/** A server of the S3 protocol in this process, which checks each signature by a computation of its own. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { receiver } from './destination-world.ts';

export const s3Keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret/with+odd=signs', region: 'eu-central-1' };

export interface S3Server {
  readonly endpoint: string;
  /** The bucket `exports`, by key. */
  readonly objects: Map<string, string | Uint8Array>;
  /** Puts an object there that was changed now. */
  put(key: string, content: string | Uint8Array): void;
  /** Method, path and query of what was asked for. */
  readonly asked: string[];
  /** Answers before the server does where it says so. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Keys of one page. */
  pageKeys: number;
}

const usualDate = new Date('2026-01-02T03:04:05.000Z');
/** By content. */
const changed = new Map<string | Uint8Array, Date>();

export async function s3Server(): Promise<S3Server> {
  const server: { -readonly [key in keyof S3Server]: S3Server[key] } = {
    endpoint: '',
    objects: new Map(),
    put(key, content) {
      server.objects.set(key, content);
      changed.set(content, new Date());
    },
    asked: [],
    intercept: undefined,
    pageKeys: 1000,
  };
  server.endpoint = await receiver((request, response) => answer(server, request, response));
  return server;
}

function answer(server: S3Server, request: IncomingMessage, response: ServerResponse): unknown {
  server.asked.push(`${request.method} ${request.url}`);
  if (server.intercept?.(request, response) === true) return undefined;
  const url = new URL(request.url ?? '', 'http://s3');
  const refusal = signatureProblem(request, url);
  if (refusal !== undefined) return fail(response, 403, refusal);
  // Not by URL, which would change some keys.
  const [path = ''] = (request.url ?? '').split('?');
  const [, bucket, ...rest] = path.split('/').map(decodeURIComponent);
  if (bucket !== 'exports') return fail(response, 404, 'NoSuchBucket');
  const key = rest.join('/');
  if (key === '') return list(server, url.searchParams, response);
  const content = server.objects.get(key);
  if (content === undefined) return fail(response, 404, 'NoSuchKey');
  const etag = etagOf(content);
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== etag) return fail(response, 412, 'PreconditionFailed');
  return response.writeHead(200, { etag, 'content-length': Buffer.byteLength(content) }).end(content);
}

function list({ objects, pageKeys }: S3Server, query: URLSearchParams, response: ServerResponse): unknown {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter');
  const from = Number(query.get('continuation-token') ?? '0');
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
  const flat = keys.filter((key) => delimiter === null || !key.slice(prefix.length).includes(delimiter));
  const page = flat.slice(from, from + pageKeys);
  const isTruncated = from + pageKeys < flat.length;
  const written = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');
  const contents = page.map((key) => {
    const content = objects.get(key)!;
    return `<Contents><Key>${written(key)}</Key><LastModified>${(changed.get(content) ?? usualDate).toISOString()}</LastModified><ETag>${etagOf(content).replaceAll('"', '&quot;')}</ETag><Size>${Buffer.byteLength(content)}</Size><Owner><ID>x</ID></Owner></Contents>`;
  });
  const next = isTruncated ? `<NextContinuationToken>${from + pageKeys}</NextContinuationToken>` : '';
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>exports</Name><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
  return response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
}

export function etagOf(content: string | Uint8Array): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

export function fail(response: ServerResponse, status: number, code: string): unknown {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>The words of the service.</Message></Error>`;
  return response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
}

/** As the description of Signature Version 4 has it, step by step. */
function signatureProblem({ method = '', headers, url: target = '' }: IncomingMessage, url: URL): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/;
  const [, id, day = '', region = '', names = '', signature] = form.exec(headers.authorization ?? '') ?? [];
  if (id !== s3Keys.accessKeyId) return 'InvalidAccessKeyId';
  if (!names.split(';').includes('host') || region !== s3Keys.region) return 'AuthorizationHeaderMalformed';
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}\n`);
  const strict = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const [path = ''] = target.split('?');
  const query = [...url.searchParams]
    .map(([key, value]) => `${strict(key)}=${strict(value)}`)
    .toSorted()
    .join('&');
  const canonicalPath = path
    .split('/')
    .map((segment) => strict(decodeURIComponent(segment)))
    .join('/');
  const payload = String(headers['x-amz-content-sha256']);
  const canonical = [method, canonicalPath, query, signed.join(''), names, payload].join('\n');
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const at = String(headers['x-amz-date']);
  const toSign = ['AWS4-HMAC-SHA256', at, `${day}/${region}/s3/aws4_request`, hash(canonical)].join('\n');
  const dayKey = hmac(`AWS4${s3Keys.secretAccessKey}`, day);
  const key = hmac(hmac(hmac(dayKey, region), 's3'), 'aws4_request');
  return hmac(key, toSign).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}
