/** Small files of the state directory: the heartbeat, the wake-up call, and what killed commands left behind. */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  watch,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

/**
 * Says until when the loop may be silent, in ms since 1970. Overwritten in place and always of one length, so that it needs
 * no space on a full disk.
 */
export function writeHeartbeat(stateDir: string, untilMs: number): void {
  const file = path.join(stateDir, 'heartbeat');
  const fd = openSync(file, existsSync(file) ? 'r+' : 'w', 0o600);
  try {
    writeSync(fd, String(untilMs).padStart(16), 0);
  } finally {
    closeSync(fd);
  }
}

/** `undefined` where no loop ever said so. */
export function readHeartbeat(stateDir: string): number | undefined {
  const file = path.join(stateDir, 'heartbeat');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

const wakeName = 'wake';

/** Makes the running agent look at its requests now. */
export function writeWake(stateDir: string): void {
  writeFileSync(path.join(stateDir, wakeName), '');
}

/** Calls `woken` when somebody wrote it. Only a hint: the loop looks at the ledger by itself too. */
export function watchWake(stateDir: string, woken: () => void): Disposable {
  const watcher = watch(stateDir, (_event, name) => {
    if (name === wakeName) woken();
  });
  watcher.on('error', woken);
  return { [Symbol.dispose]: () => watcher.close() };
}

/** Where a command may copy the buffer to; dropped by the next agent should the command be killed. */
export function scratchDirectory(stateDir: string): string {
  return path.join(stateDir, `scratch-${process.pid}`);
}

export function dropOldScratch(stateDir: string): void {
  for (const name of readdirSync(stateDir)) {
    const pid = /^scratch-(\d+)$/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(path.join(stateDir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
