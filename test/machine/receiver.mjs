// The service as the package's life needs it: writes the digest of each body to /story/bodies, and answers as /story/answer says.
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

createServer((request, response) => {
  const hash = createHash('sha256');
  request.on('data', (chunk) => hash.update(chunk));
  request.on('end', () => {
    appendFileSync('/story/bodies', `${hash.digest('hex')}\n`);
    const answer = readFileSync('/story/answer', 'utf8').trim();
    if (answer === 'hold') return;
    response.writeHead(Number(answer), { 'content-type': 'application/json' }).end('{}');
  });
}).listen(18787, '127.0.0.1');
