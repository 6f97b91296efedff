/** Where targets put their files. The thread that made the folder takes it away: one that is ended from outside does not. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workerData } from 'node:worker_threads';

const given = (workerData as { readonly fuzzFolder?: string } | null)?.fuzzFolder;
export const fuzzFolder = given ?? mkdtempSync(path.join(tmpdir(), 'driver-sync-fuzz-'));
if (given === undefined) process.on('exit', () => rmSync(fuzzFolder, { recursive: true, force: true }));

export function folderOf(targets: string): string {
  const folder = path.join(fuzzFolder, targets);
  mkdirSync(folder, { recursive: true });
  return folder;
}
