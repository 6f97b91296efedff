/** Turns the system calls of a process into operations on a disk. */
import { lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Disk, type Operation, numbersOf } from './disk-states.ts';
import { type Call, bytesOf, filesOf } from './strace.ts';

/** What is in a folder, with names below it. */
export function readDisk(folder: string): Disk {
  const disk = new Map<string, Buffer | 'folder'>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.join(folder, name);
    disk.set(name, lstatSync(file).isDirectory() ? 'folder' : readFileSync(file));
  }
  return disk;
}

export function writeDisk(folder: string, disk: Disk): void {
  for (const [name, content] of [...disk].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (content === 'folder') mkdirSync(path.join(folder, name), { mode: 0o700 });
    else writeFileSync(path.join(folder, name), content, { mode: 0o600 });
  }
}

/** @param folder of the disk; calls on anything else are left out, but for what goes to and comes from the service */
export function operationsOf(calls: readonly Call[], folder: string, before: Disk): Operation[] {
  const operations: Operation[] = [];
  const files = numbersOf(before);
  const folders = new Set([...before].filter(([, content]) => content === 'folder').map(([name]) => name));
  const places = new Map<string, number>();
  let next = files.size;
  for (const call of calls) {
    const { name, args, result } = call;
    if (result < 0) continue;
    const mark = markOf(call, operations);
    if (mark !== undefined) operations.push(mark);
    const [file, to] = namesOf(call, folder);
    if (file === undefined) continue;
    const [descriptor = ''] = args.split('<');
    const number = files.get(file);
    const last = Number(/, (\d+)$/.exec(args)?.[1]);
    if (name === 'openat') {
      places.set(String(result), 0);
      if (number === undefined && args.includes('O_CREAT')) {
        files.set(file, next);
        operations.push({ kind: 'create', name: file, file: next++ });
      } else if (number !== undefined && args.includes('O_TRUNC')) {
        operations.push({ kind: 'truncate', file: number, size: 0 });
      }
    } else if (name === 'mkdir') {
      folders.add(file);
      operations.push({ kind: 'folder', name: file });
    } else if (name === 'unlink') {
      files.delete(file);
      operations.push({ kind: 'unlink', name: file });
    } else if (name === 'fsync' || name === 'fdatasync') {
      if (number === undefined || folders.has(file)) operations.push({ kind: 'syncFolder', name: file });
      else operations.push({ kind: 'sync', file: number });
    } else if (number === undefined) {
      continue;
    } else if (name === 'rename' && to !== undefined) {
      files.delete(file);
      files.set(to, number);
      operations.push({ kind: 'rename', name: file, to, file: number });
    } else if (name === 'write') {
      const at = places.get(descriptor) ?? 0;
      places.set(descriptor, at + result);
      operations.push({ kind: 'write', file: number, at, bytes: writtenBy(call) });
    } else if (name === 'pwrite64') {
      operations.push({ kind: 'write', file: number, at: last, bytes: writtenBy(call) });
    } else if (name === 'ftruncate') {
      operations.push({ kind: 'truncate', file: number, size: last });
    }
  }
  return operations;
}

/** Below the folder; the last one is what a call opens, the first one what it works on. */
function namesOf(call: Call, folder: string): string[] {
  const below = filesOf(call)
    .map((file) => path.relative(folder, file))
    .filter((file) => !file.startsWith('..'))
    .map((file) => (file === '' ? '.' : file));
  return call.name === 'openat' ? below.slice(-1) : below;
}

function writtenBy({ args, result }: Call): Buffer {
  const text = /, "((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '';
  const bytes = bytesOf(text);
  if (bytes.length < result) throw new Error(`strace kept ${bytes.length} of ${result} bytes`);
  return bytes.subarray(0, result);
}

const moves: Readonly<Record<string, string>> = {
  write: 'sent',
  writev: 'sent',
  sendto: 'sent',
  sendmsg: 'sent',
  read: 'answered',
  readv: 'answered',
  recvfrom: 'answered',
  recvmsg: 'answered',
};

/** The first byte that leaves for the service, and the first that comes back. */
function markOf({ name, args, result }: Call, before: readonly Operation[]): Operation | undefined {
  if (!/^\d+<TCP/.test(args)) return undefined;
  const what = moves[name];
  if (what === undefined || result === 0 || before.some((one) => one.kind === 'mark' && one.what === what))
    return undefined;
  return { kind: 'mark', what };
}
