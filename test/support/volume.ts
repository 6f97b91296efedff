/** A volume of a few megabytes, in memory, that a test can fill to the last byte. */
import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, rmdirSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isChecked } from './servers.ts';

const isRoot = process.getuid?.() === 0;
/** Mounting takes root, and not every container lets it. */
export const cannotMount = !isRoot || (!isChecked && !mayMount());
/** For the names of suites. */
export const volumeName = cannotMount ? 'a volume, which takes root to mount' : 'a volume';

export interface Volume extends AsyncDisposable {
  readonly dir: string;
  /** Leaves no room at all. */
  fill(): void;
  makeRoom(): void;
}

/** @param like a file whose owner it gets */
export function mountVolume(megabytes: number, like: string): Volume {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-volume-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', dir]);
  const leave = (): void => {
    execFileSync('umount', ['--lazy', dir]);
    rmdirSync(dir);
  };
  process.once('exit', leave);
  const { uid, gid } = statSync(like);
  chownSync(dir, uid, gid);
  const ballast = path.join(dir, 'ballast');
  return {
    dir,
    fill() {
      const fd = openSync(ballast, 'a');
      try {
        for (let bytes = 1 << 20; bytes > 0; bytes >>= 1) writeAll(fd, Buffer.alloc(bytes));
      } finally {
        closeSync(fd);
      }
    },
    makeRoom: () => rmSync(ballast),
    async [Symbol.asyncDispose]() {
      process.off('exit', leave);
      leave();
    },
  };
}

/** Until there is no room for it. */
function writeAll(fd: number, bytes: Buffer): void {
  for (;;) {
    try {
      writeSync(fd, bytes);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
      throw error;
    }
  }
}

function mayMount(): boolean {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-volume-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(dir);
  }
}
