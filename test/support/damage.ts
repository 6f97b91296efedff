/** What happens to files of a state directory. */
import {
  closeSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { type World, threeMonths } from './state-world.ts';

/** Names of the files that the agent put beside their successors. */
export function asideIn({ state }: World): string[] {
  return readdirSync(state).filter((name) => name.includes('damaged'));
}

export function overwrite(
  target: string,
  { at, bytes, fill = 0x5a }: { at: number; bytes: number; fill?: number },
): void {
  const fd = openSync(target, 'r+');
  writeSync(fd, Buffer.alloc(bytes, fill), 0, bytes, at);
  closeSync(fd);
}

/** Bytes in the middle of a snapshot's file become other ones: where its drivers stand, if it has many. */
export function damageSnapshot(state: string, digest: string): void {
  const archive = path.join(state, 'archive');
  const name = readdirSync(archive).find((one) => one.startsWith(digest));
  if (name === undefined) throw new Error(`there is no snapshot ${digest}`);
  const file = path.join(archive, name);
  overwrite(file, { at: statSync(file).size >> 1, bytes: 8 });
}

/** Ways in which a whole file is lost. */
export const damages: readonly (readonly [name: string, damage: (target: string) => void])[] = [
  ['garbage', (target) => writeFileSync(target, 'no database at all\n'.repeat(1000))],
  ['truncated', (target) => truncateSync(target, Math.floor(statSync(target).size / 2) + 100)],
  ['empty', (target) => truncateSync(target, 0)],
  ['gone', (target) => rmSync(target)],
];

/** As a disk does it: a lost page, a torn write, a flipped bit. */
export const wounds: readonly (readonly [name: string, wound: (target: string, at: number) => void])[] = [
  ['a page', (target, at) => overwrite(target, { at, bytes: 4096 })],
  ['zeros', (target, at) => overwrite(target, { at: at + 512, bytes: 512, fill: 0 })],
  ['a digit', (target, at) => flipDigit(target, at)],
];

/** Makes a 1 of the next value after a place a 7. */
function flipDigit(target: string, at: number): void {
  const found = readFileSync(target).indexOf('1.50', at);
  if (found >= 0) overwrite(target, { at: found, bytes: 1, fill: 0x37 });
}

/** Enough to fill many pages of a database. */
export const manyMonths = Array.from({ length: 2400 }, (_, index) => {
  const [year, month] = [1800 + Math.floor(index / 12), (index % 12) + 1];
  return `${year}-${String(month).padStart(2, '0')}`;
}).concat(threeMonths);
