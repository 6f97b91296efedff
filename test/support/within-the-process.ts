/** The tests of `npm run test:unit` are quick because they start nothing; what this refuses belongs into another file. */
import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';

function refuse(what: string): never {
  throw new Error(`a unit test starts ${what}: name its file *.e2e.test.ts, or put it into the folder of another room`);
}

const startProcess = (): never => refuse('a process');
Object.assign(ChildProcess.prototype, { spawn: startProcess });
Object.assign(childProcess, { spawnSync: startProcess, execFileSync: startProcess, execSync: startProcess });
syncBuiltinESMExports();
Object.assign(Server.prototype, { listen: () => refuse('a server') });
