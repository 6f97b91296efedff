/** OpenStack Swift as a service of S3, in a process of its own: it checks what is asked and says what it has by rules that are not ours. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { type Lifetime, freePort, started, untilTestEnds } from './remote-servers.ts';

const isThere = existsSync('/usr/lib/python3/dist-packages/swift/proxy/server.py');

export const cannotSwift = process.env['CI'] === undefined && !isThere;
export const swiftName = cannotSwift ? 'Swift, which is not installed' : 'Swift';

/** As swift-server.py has them. */
export const swiftPageKeys = 10;
const region = 'eu-central-1';
export const swiftKeys = { accessKeyId: 'books:agent', secretAccessKey: 'secret/with+odd=signs', region };
/** A user who may see nothing of what the other one has. */
export const strangerKeys = { accessKeyId: 'books:stranger', secretAccessKey: 'another-secret', region };

export interface Bucket {
  readonly name: string;
  put(key: string, content: string): Promise<void>;
  /** As large files are uploaded: their tag is no hash of the content. */
  putInParts(key: string, parts: readonly string[]): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface SwiftServer {
  readonly endpoint: string;
  /** A new bucket. */
  bucket(name: string): Promise<Bucket>;
}

export async function swiftServer(lifetime: Lifetime = untilTestEnds): Promise<SwiftServer> {
  if (!isThere) throw new Error('python3-swift is not installed, and with CI set nothing is skipped');
  const folder = await lifetime.tempDir();
  const port = await freePort();
  const script = path.join(import.meta.dirname, 'swift-server.py');
  await started(spawn('/usr/bin/python3', [script, folder, String(port)], { stdio: 'ignore' }), port, lifetime);
  const endpoint = `http://127.0.0.1:${port}`;
  const ask = async (method: string, at: string, body?: string): Promise<string> => {
    const signer = new AwsV4Signer({
      ...swiftKeys,
      service: 's3',
      method,
      url: `${endpoint}/${at}`,
      body: body ?? null,
    });
    const { url, headers } = await signer.sign();
    const answer = await fetch(url, { method, headers, body: body ?? null });
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${said}`);
    return said;
  };
  return {
    endpoint,
    async bucket(name) {
      await ask('PUT', name);
      const at = (key: string): string => `${name}/${key.split('/').map(encoded).join('/')}`;
      return {
        name,
        put: async (key, content) => void (await ask('PUT', at(key), content)),
        async putInParts(key, parts) {
          const id = /<UploadId>(.+)<\/UploadId>/.exec(await ask('POST', `${at(key)}?uploads=`))?.[1] ?? '';
          const listed: string[] = [];
          for (const [index, part] of parts.entries()) {
            await ask('PUT', `${at(key)}?partNumber=${index + 1}&uploadId=${id}`, part);
            listed.push(`<Part><PartNumber>${index + 1}</PartNumber><ETag>${md5(part)}</ETag></Part>`);
          }
          const whole = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
          await ask('POST', `${at(key)}?uploadId=${id}`, whole);
        },
        remove: async (key) => void (await ask('DELETE', at(key))),
      };
    },
  };
}

/** As RFC 3986 has it, which signatures count on. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
