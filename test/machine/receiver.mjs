// The service as the package's life needs it: writes the digest of each body to FOLDER/bodies, and answers as FOLDER/answer says.
//
//   node receiver.mjs [FOLDER [PORT]]        /story and 18787 where it is not said
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [folder = '/story', port = '18787'] = process.argv.slice(2);

createServer((request, response) => {
  const hash = createHash('sha256');
  request.on('data', (chunk) => hash.update(chunk));
  request.on('end', () => {
    appendFileSync(`${folder}/bodies`, `${hash.digest('hex')}\n`);
    const answer = readFileSync(`${folder}/answer`, 'utf8').trim();
    if (answer === 'hold') return;
    response.writeHead(Number(answer), { 'content-type': 'application/json' }).end('{}');
  });
}).listen(Number(port), '127.0.0.1');
