/** Each system call of a command that touches the state directory, and the ways in which one may fail. */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { executable } from './built.ts';
import type { ProofWorld } from './proof-world.ts';
import { type Call, type Traced, filesOf, trace } from './strace.ts';

export interface Fault {
  readonly call: string;
  /** Counted from 1, of calls with this name. */
  readonly nth: number;
  /** As `strace --inject` takes it. */
  readonly how: string;
  /** `ledger.db-wal`, say: calls on one kind of file are much alike. */
  readonly file: string;
}

const refused = ['error=ENOSPC', 'error=EIO', 'error=EROFS', 'error=EINTR'];
/** Nothing is written, or the file ends there. */
const short = 'retval=0';
const failed = ['error=EIO'];

const faultsOf: Readonly<Record<string, readonly string[]>> = {
  openat: refused,
  write: [...refused, short],
  pwrite64: [...refused, short],
  fsync: refused,
  fdatasync: refused,
  ftruncate: refused,
  fallocate: refused,
  rename: refused,
  unlink: refused,
  unlinkat: refused,
  rmdir: refused,
  mkdir: refused,
  chmod: refused,
  fchmod: refused,
  fchown: refused,
  mmap: ['error=ENOMEM'],
  fcntl: failed,
  read: ['error=EIO', 'error=EINTR', short],
  pread64: ['error=EIO', 'error=EINTR', short],
  getdents64: failed,
  newfstatat: failed,
  statx: failed,
  lstat: failed,
  access: failed,
  close: failed,
};

/** Runs the real command under strace. @param names below the state directory: strace takes no folder with all that is in it */
export function traceCommand(
  one: ProofWorld,
  args: readonly string[],
  { names, fault }: { names: readonly string[]; fault?: Fault },
): Promise<Traced> {
  return trace({
    program: [process.execPath, executable, ...args, '--config', one.config],
    cwd: one.folder,
    paths: [one.state, ...names.map((name) => path.join(one.state, name))],
    calls: Object.keys(faultsOf),
    ...(fault !== undefined && { inject: `${fault.call}:${fault.how}:when=${fault.nth}` }),
  });
}

const databases = ['buffer.db', 'ledger.db'].flatMap((name) => ['', '-wal', '-shm'].map((suffix) => name + suffix));

/** What a command may find or leave in the state directory, where the archive ends with these snapshots. */
export function namesIn({ state }: ProofWorld): readonly string[] {
  mkdirSync(path.join(state, 'archive'), { recursive: true });
  const archived = readdirSync(path.join(state, 'archive')).map((name) => `archive/${name}`);
  const small = ['lock', 'lock-journal', 'agent.json', 'agent.json.new', 'wake', 'archive', 'archive/draft-$$'];
  return [...databases, ...small, ...archived];
}

/** Every way in which every one of these calls may fail. */
export function everyFault(calls: readonly Call[]): Fault[] {
  const counts = new Map<string, number>();
  return calls.flatMap((one) => {
    const nth = (counts.get(one.name) ?? 0) + 1;
    counts.set(one.name, nth);
    return waysOf(one).map((how) => ({ call: one.name, nth, how, file: kindOf(one) }));
  });
}

/** A file that is opened to read needs no space, and no disk that can be written. */
function waysOf({ name, args }: Call): readonly string[] {
  return name === 'openat' && args.includes('O_RDONLY') ? ['error=EIO', 'error=EINTR'] : (faultsOf[name] ?? []);
}

/** The names of snapshots and drafts differ, and they are all alike. */
function kindOf(call: Call): string {
  const name = path.basename(filesOf(call).at(-1) ?? '');
  if (name.endsWith('.snapshot')) return 'snapshot';
  return name.startsWith('draft-') ? 'draft' : name;
}

/** One of each kind, for each way to fail: the last such call, with which the most has happened already. */
export function representatives(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((one) => [`${one.call} ${one.file} ${one.how}`, one])).values()];
}
