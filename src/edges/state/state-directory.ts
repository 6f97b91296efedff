/** Small files of the state directory: the heartbeat, the wake-up call, and what killed commands left behind. */
import {
  closeSync,
  existsSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  watch,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { shellWord } from '../../core/text.ts';
import { onFile, removeFile } from './file-failure.ts';
import { openInPlace, openNew, openPlain } from './private-file.ts';

/** Why the last pass of a daemon ended before it had an outcome. */
export interface BrokenPass {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly exit: number;
  readonly reason: string;
  readonly hint?: string | undefined;
}

export interface Heartbeat {
  /** Until when the loop may be silent, in ms since 1970. */
  readonly untilMs: number;
  /** The same since the machine was started: what counts until it is started again, since the clock may be set. Only written. */
  readonly monotonicUntilMs?: number | undefined;
  /** Present while the last pass is one that broke: on a full disk nothing else can be written. */
  readonly broken?: BrokenPass | undefined;
}

/** Less than a page of any file system, so that overwriting it in place needs no space on a full disk. */
const heartbeatBytes = 1024;
const untilDigits = 16;
/** At the end: `BOOT MONOTONIC`. */
const bootBytes = 64;
const textBytes = heartbeatBytes - untilDigits - bootBytes;

/** Names the time since the machine was started; empty where no system tells, and the clock on the wall is all there is. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Milliseconds of a clock that all processes of a boot share, and that nobody sets. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** @throws AgentError `state.full`, `state.unwritable` */
export function writeHeartbeat(stateDir: string, { untilMs, monotonicUntilMs, broken }: Heartbeat): void {
  const bytes = Buffer.alloc(heartbeatBytes, ' ');
  bytes.write(String(untilMs).padStart(untilDigits));
  if (broken !== undefined) {
    const { at, exit, reason } = broken;
    const shorter = ['', reason.slice(0, 100), reason].map((text) => ({ at, exit, reason: text }));
    const texts = [...shorter, broken].map((one) => JSON.stringify(one));
    bytes.write(texts.findLast((text) => Buffer.byteLength(text) <= textBytes) ?? '', untilDigits);
  }
  const boot = monotonicUntilMs === undefined ? '' : bootId();
  if (boot !== '') bytes.write(`${boot} ${monotonicUntilMs}`, heartbeatBytes - bootBytes);
  const file = path.join(stateDir, 'heartbeat');
  onFile(file, () => {
    const fd = openInPlace(file);
    try {
      writeSync(fd, bytes, 0, heartbeatBytes, 0);
    } finally {
      closeSync(fd);
    }
  });
}

/** `undefined` where no loop ever said so. */
export function readHeartbeat(stateDir: string): Heartbeat | undefined {
  const fd = openPlain(path.join(stateDir, 'heartbeat'));
  if (fd === undefined) return undefined;
  try {
    const bytes = readFileSync(fd);
    const text = (from: number, to?: number): string => bytes.toString('utf8', from, to).trim();
    const [boot, until] = text(heartbeatBytes - bootBytes).split(' ');
    const isThisBoot = until !== undefined && boot === bootId();
    return {
      untilMs: isThisBoot ? Date.now() + Number(until) - monotonicMs() : Number(text(0, untilDigits)),
      broken: parseBroken(text(untilDigits, heartbeatBytes - bootBytes)),
    };
  } finally {
    closeSync(fd);
  }
}

function parseBroken(text: string): BrokenPass | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as BrokenPass;
  } catch {
    // Written half before a power cut: the next beat writes it whole.
    return undefined;
  }
}

const configName = 'config';

/** Notes which config file uses the state directory. @throws AgentError `state.full`, `state.unwritable` */
export function noteConfig(stateDir: string, config: string): void {
  if (notedConfig(stateDir) === config) return;
  const file = path.join(stateDir, configName);
  removeFile(file);
  onFile(file, () => {
    const fd = openNew(file);
    try {
      writeSync(fd, config);
    } finally {
      closeSync(fd);
    }
  });
}

/** The config file that used the state directory last; `undefined` where none did yet. @throws AgentError `state.unwritable` */
export function notedConfig(stateDir: string): string | undefined {
  const file = path.join(stateDir, configName);
  return onFile(file, () => {
    const fd = openPlain(file);
    if (fd === undefined) return undefined;
    try {
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  });
}

const wakeName = 'wake';

/** Makes the running agent look at its requests now. A new file each time, whoever's the old one is and wherever it leads. */
export function writeWake(stateDir: string): void {
  const file = path.join(stateDir, wakeName);
  removeFile(file);
  onFile(file, () => closeSync(openNew(file)));
}

/** Calls `woken` when somebody wrote it. Only a hint: the loop looks at the ledger by itself too. */
export function watchWake(stateDir: string, woken: () => void): Disposable {
  const watcher = watch(stateDir, (_event, name) => {
    if (name === wakeName) woken();
  });
  watcher.on('error', woken);
  return { [Symbol.dispose]: () => watcher.close() };
}

/** Who else may look into the state directory or change it, in a sentence; `undefined` where only its user may. */
export function openToOthers(stateDir: string): string | undefined {
  if (process.platform === 'win32' || !existsSync(stateDir)) return undefined;
  const stats = onFile(stateDir, () => statSync(stateDir));
  // A file that stands in its place is of somebody else: nobody should change its mode.
  if (!stats.isDirectory()) return undefined;
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) === 0) return undefined;
  const what = (mode & 0o022) === 0 ? 'seen' : 'changed';
  const shown = mode.toString(8).padStart(4, '0');
  return `the state directory ${stateDir} can be ${what} by other users (mode ${shown}): chmod 700 ${shellWord(realpathSync(stateDir))}`;
}

/** Where a command may copy the buffer to; dropped by the next agent, or the next command with one, should it be killed. */
export function scratchDirectory(stateDir: string): string {
  return path.join(stateDir, `scratch-${process.pid}`);
}

export function dropOldScratch(stateDir: string): void {
  for (const name of onFile(stateDir, () => readdirSync(stateDir))) {
    const pid = /^scratch-(\d+)$/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const scratch = path.join(stateDir, name);
    onFile(scratch, () => rmSync(scratch, { recursive: true, force: true }));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
