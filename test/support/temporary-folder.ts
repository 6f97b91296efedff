/** Where the tests keep their files: a folder for each run, which goes with whatever they left there. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, as Linux has it: on a busy disk, tests of the daemon take three times as long. */
const inMemory = '/dev/shm';

/** Several times what the tests have there at once, so that memory does not run short. */
const freeBytesMin = 4e9;

/** Names the folder of this run, for the projects that come second. */
const variable = 'DRIVER_SYNC_TESTS_TEMPORARY';

/** `undefined` in a process that is no part of a run. */
export function folderOfRun(): string | undefined {
  return process.env[variable];
}

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
  return () => removeFolder(folder);
}

/** A run that was killed has not removed its folder, which may take memory. */
function removeAbandoned(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^ds-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = path.join(place, name);
    if (statSync(folder).uid === process.getuid?.()) removeFolder(folder);
  }
}

/** With the volumes that a test which was cut off has left mounted in it: nothing else can be removed before them. */
function removeFolder(folder: string): void {
  for (const volume of mountedBelow(folder)) execFileSync('umount', ['--lazy', volume]);
  rmSync(folder, { recursive: true, force: true });
}

/** By Linux' list, in which a blank in a path is `\040`. */
function mountedBelow(folder: string): readonly string[] {
  const list = '/proc/self/mounts';
  if (!existsSync(list)) return [];
  return readFileSync(list, 'utf8')
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
    .filter((place) => place.startsWith(`${folder}${path.sep}`))
    .toReversed();
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
