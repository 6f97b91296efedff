/** What people and the agent write: bodies for the emulator, configs, and files of the state directory. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { updatePath } from '../../src/contract/update-path.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import { openMemoryCopy } from '../../src/edges/state/memory-copy.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { propose } from '../../src/propose/propose.ts';
import { campaignConfigs, sampleFile } from './campaign-configs.ts';
import { drawConfig } from './drawn-configs.ts';
import { driver } from './packed.ts';
import { folderOf } from './fuzz-folder.ts';
import { type FuzzTarget, must, refusing } from './fuzz-target.ts';
import { fileTargets, jsonTokens } from './fuzz-files.ts';

const folder = folderOf('wire');

/** What a push sends. */
export const updateBody = Buffer.from(
  JSON.stringify({
    shouldDeleteMissing: true,
    extDrivers: [
      {
        id: 'a',
        path: ['A', 'b'],
        timeSeries: [
          { time: '1768478400', value: '1.50' },
          { time: '1771156800', value: '-2' },
        ],
      },
      { id: 'b', path: ['A', 'ü'], timeSeries: [] },
    ],
  }),
);

let emulator: ReturnType<typeof startEmulator> | undefined;

/** A body is taken whole or not at all, and is never a bug of the emulator. */
async function checkUpdate(input: Buffer): Promise<void> {
  const service = await (emulator ??= startEmulator());
  const before = JSON.stringify(service.drivers());
  // Bodies that delete nothing add up.
  if (before.length > 100_000) {
    emulator = undefined;
    await service.close();
    return checkUpdate(input);
  }
  const answer = await service.fetch(updatePath, { method: 'POST', body: new Uint8Array(input) });
  must(answer.status < 500, () => `the emulator answers ${answer.status}`);
  await answer.text();
  if (answer.status >= 400)
    must(JSON.stringify(service.drivers()) === before, () => 'a refused body changed something');
}

/** As people write them, with most of the settings. */
const configs = [
  ...campaignConfigs.flatMap(([, config]) => (config === 'sample' ? [] : [config])),
  ...Array.from({ length: 20 }, (_, seed) => drawConfig(seed)),
].map((config) => Buffer.from(stringify(config)));

const values = [
  ['a', '1.50'],
  ['b', '-2'],
] as const;

/** A snapshot of two drivers, as the archive has it. */
async function snapshot(): Promise<Buffer> {
  const place = path.join(folder, 'seed');
  const drivers = values.map(([id, value]) => ({
    ...driver(id, { '2026-01': value, '2026-02': '7.10' }),
    source: 'a',
  }));
  const { digest } = await openArchive(place).write(drivers, { shouldDeleteMissing: true, stamp: 'middle' }, []);
  return readFileSync(path.join(place, `${digest}.snapshot`));
}

/** A database in WAL mode whose rows are in its log, with the database before it. */
function logged(): Buffer {
  const file = path.join(folder, 'logged.db');
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('x')");
  const log = readFileSync(`${file}-wal`);
  database.close();
  return log;
}

const words = [
  'sources:',
  '- ',
  '\n  ',
  '{',
  '}',
  '[',
  ']',
  ':',
  '"',
  '&a ',
  '*a',
  '<<: ',
  '!x ',
  '${A}',
  '#',
  '\t',
  'null',
  '0x10',
  '1e999',
];

export const wireTargets: Readonly<Record<string, FuzzTarget>> = {
  'emulator-body': { seeds: () => [updateBody], tokens: jsonTokens, check: checkUpdate },
  config: {
    seeds: () => [readFileSync(sampleFile), ...configs],
    tokens: words,
    check(input) {
      const file = path.join(folder, 'driver-sync.yaml');
      writeFileSync(file, input);
      const { settings, problems } = loadConfig(file, { env: { A: 'hunter2' }, secrets: 'optional' });
      must((settings === undefined) === problems.length > 0, () => 'neither settings nor problems, or both');
      for (const { message, hint } of problems)
        must(!`${message} ${hint}`.includes('hunter2'), () => `a secret: ${message}`);
    },
  },
  proposal: {
    seeds: () => fileTargets['csv']?.seeds() ?? [],
    tokens: fileTargets['csv']?.tokens ?? [],
    async check(input) {
      const one = { form: 'text', name: 'a.csv', pieces: [input], isWhole: true } as const;
      await refusing(async () => void propose([one], () => []));
    },
  },
  snapshot: {
    seeds: async () => [await snapshot()],
    tokens: [],
    async check(input) {
      const digest = 'a'.repeat(64);
      writeFileSync(path.join(folder, `${digest}.snapshot`), input);
      await refusing(async () => {
        const found = await openArchive(folder).open(digest);
        for (const _driver of found?.read() ?? []);
        for await (const _chunk of found?.body().chunks() ?? []);
        found?.driver('a');
      });
    },
  },
  'database-log': {
    seeds: () => [logged()],
    tokens: [],
    check(input) {
      const file = path.join(folder, 'copied.db');
      writeFileSync(`${file}-wal`, input);
      writeFileSync(file, readFileSync(path.join(folder, 'logged.db')));
      // What SQLite finds damaged it says itself.
      try {
        openMemoryCopy(file)?.prepare('SELECT * FROM t').all();
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error;
      }
    },
  },
};
