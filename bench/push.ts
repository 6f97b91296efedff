/** The way out: a snapshot of many drivers, from a buffer that has them all: built, kept, pushed and recorded. */
import { closeSync, cpSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { agentArgs, benchFile, csvKeys, directory, wideFile, wideMapping, writeConfig } from './agent.ts';
import { type Place, type Sizes, type Table, faster, peak, resultOf, slower } from './measurement.ts';
import { compare } from './measure.ts';

export async function push(place: Place, sizes: Sizes): Promise<Table> {
  const { wideDrivers, months, runs } = sizes;
  const file = wideFile(place, { drivers: wideDrivers, months, seed: 1 });
  const prepared = directory(place, 'wide-prepared');
  const write = (dir: string, url: string, stamp: string): string =>
    writeConfig(dir, url, { keys: csvKeys(file), mapping: wideMapping }, `, stamp: ${stamp}`);
  place.receiver.skip();
  const wide = 'sync of the wide file, from nothing, once';
  const prepare = await compare(
    [{ name: wide, args: agentArgs(place, 'sync', write(prepared, place.url, 'middle')) }],
    1,
  );
  const { bytes } = JSON.parse(await place.receiver.line()) as { bytes: number };

  // Another stamp makes another snapshot of what was accepted; another address was never pushed to.
  const copy = path.join(place.workDir, 'wide');
  const from = (url: string, stamp: string) => (): void => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(prepared, copy, { recursive: true });
    write(copy, url, stamp);
    // Or the run would pay for writing the copy too, with its own first fsync.
    syncFiles(copy);
  };
  const args = agentArgs(place, 'sync', path.join(copy, 'driver-sync.yaml'));
  const ready = `posting ${Math.round(bytes / 1e6)} MB that are ready`;
  const plain = 'JSON.stringify and one POST';
  const results = await compare(
    [
      { name: ready, args: [benchFile('peer-post'), String(bytes), place.url] },
      { name: plain, args: [benchFile('peer-stringify'), String(wideDrivers), String(months), place.url] },
      { name: 'sync: first push to an address', args, before: from(`${place.url}/other`, 'end') },
      { name: 'sync: next push, all points equal', args, before: from(place.url, 'end') },
    ],
    runs,
  );
  rmSync(copy, { recursive: true, force: true });
  const first = resultOf(results, 'sync: first push to an address');
  return {
    title: `Snapshot of ${wideDrivers} drivers x ${months} months`,
    results: [...results, ...prepare],
    figures: [
      slower('posting a snapshot that is ready', first, resultOf(results, ready), { must: 4, aim: 2 }),
      faster('snapshot: JSON.stringify', first, resultOf(results, plain)),
      peak('snapshot: peak of a push', first, { must: 150, aim: 110 }),
      peak('snapshot: peak of the wide file', resultOf(prepare, wide), { must: 200 }),
    ],
    notes: ['`JSON.stringify` is timed from the objects on; its peak and CPU time include making them.'],
  };
}

function syncFiles(dir: string): void {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const fd = openSync(path.join(entry.parentPath, entry.name), 'r+');
    fsyncSync(fd);
    closeSync(fd);
  }
}
