/**
 * A receiver that discards: takes any POST, reads its body to the end and answers 200, so that what is measured is the
 * sender. A process of its own, which prints its address and then one line of JSON for each body that it took.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => {
    response.end();
    console.log(JSON.stringify({ bytes }));
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
