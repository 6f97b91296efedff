/**
 * The newest ClickHouse as a server: the engine, a library of this folder's package.json, answers over HTTP as a server does.
 *
 *   node test/support/newest-clickhouse/server.ts FOLDER PORT
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Session } from 'chdb';

const [folder = '', port = ''] = process.argv.slice(2);
const session = new Session(folder);
/** Of HTTP itself, or of users, whom a library does not have. */
const ofServers = new Set(['database', 'default_format', 'query_id', 'readonly']);
const known = new Map<string, string>();

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(400, { 'content-type': 'text/plain' }).end(said);
  });
});
server.listen(Number(port), '127.0.0.1', () => process.stderr.write('ready\n'));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const statement = await text(request);
  const [, sql = statement, format = searchParams.get('default_format') ?? 'TabSeparated'] =
    /^([^]*)\sFORMAT (\w+)\s*$/.exec(statement) ?? [];
  // Settings are of the session, and every request of a test has the same.
  for (const [name, value] of searchParams) {
    if (ofServers.has(name) || known.get(name) === value) continue;
    session.query(`SET ${name} = '${value}'`);
    known.set(name, value);
  }
  // Only these are streamed.
  if (!/^\s*(?:select|with)\b/i.test(sql)) {
    response.end(session.query(sql, format));
    return;
  }
  const stream = session.queryStream(sql, { format });
  response.on('close', () => stream.cancel());
  for await (const chunk of stream) {
    if (!response.write(chunk.raw()))
      await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
    if (response.destroyed) return;
  }
  response.end();
}
