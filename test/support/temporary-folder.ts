/** Where the tests keep their files: a folder for each run, which goes with whatever they left there. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, as Linux has it: on a busy disk, tests of the daemon take three times as long. */
const inMemory = '/dev/shm';

/** Several times what the tests have there at once, so that memory does not run short. */
const freeBytesMin = 4e9;

/** Names the folder of this run, for the projects that come second. */
const variable = 'DRIVER_SYNC_TESTS_TEMPORARY';

/** Makes the folder the TMPDIR of the workers; what this returns removes it. */
export function openTemporaryFolder(): (() => void) | undefined {
  if (process.env[variable] !== undefined) return undefined;
  const place = process.env['TMPDIR'] === undefined && isRoomy(inMemory) ? inMemory : tmpdir();
  removeAbandoned(place);
  // Short: the path of a socket has 107 bytes.
  const folder = mkdtempSync(path.join(place, `ds-${process.pid}-`));
  // As /tmp: servers and some tests run as other users.
  chmodSync(folder, 0o1777);
  Object.assign(process.env, { [variable]: folder, TMPDIR: folder });
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A run that was killed has not removed its folder, which may take memory. */
function removeAbandoned(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^ds-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = path.join(place, name);
    if (statSync(folder).uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be asked.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function isRoomy(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= freeBytesMin;
  } catch {
    // No such folder on this machine.
    return false;
  }
}
