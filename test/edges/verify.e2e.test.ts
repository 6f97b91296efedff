/** The independent checker in docs/verify: it says what `verify` says, of a state that is whole and of any changed byte. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyIn } from '../../src/compose/state.ts';
import { AgentError } from '../../src/core/errors.ts';
import { type Verified, chainWorld, withState } from '../support/chain-world.ts';
import { commandsWorld } from '../support/commands-world.ts';
import { openReceiver } from '../support/receiver.ts';
import { propertySeed } from '../support/seeds.ts';

const checker = fileURLToPath(new URL('../../docs/verify/verify.py', import.meta.url));
const changer = fileURLToPath(new URL('../support/verify-changes.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
// Where everything must be there, a missing Python is a failure.
const isMissing = !hasPython && process.env['CI'] === undefined;

type Checked = Verified & { bodies: boolean };

function check(state: string, ...args: readonly string[]): { exit: number | null; json: Checked } {
  const { status, stdout, stderr } = spawnSync('python3', [checker, state, '--json', ...args], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return { exit: status, json: JSON.parse(stdout) as Checked };
}

/** One byte of a file, and what is changed in it. */
type Change = readonly [file: string, at: number, xor: number];

/** `version` in the header: a newer ledger is refused by the agent, and the checker does not know versions. */
const versionAt = 60;

/** Every byte, or so many drawn at random. */
function changesOf(state: string, count: number): readonly Change[] {
  const files = ['ledger.db', ...readdirSync(path.join(state, 'archive')).map((name) => `archive/${name}`)];
  const bytes = files.flatMap((file) =>
    readFileSync(path.join(state, file)).reduce<[string, number][]>((all, _byte, at) => {
      if (file !== 'ledger.db' || at < versionAt || at >= versionAt + 4) all.push([file, at]);
      return all;
    }, []),
  );
  const xors = fc.sample(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
    numRuns: count === Infinity ? bytes.length : count,
    seed: propertySeed,
  });
  return xors.map(([place, xor], index) => [...bytes[count === Infinity ? index : place]!, xor]);
}

/** Everything that the chain is about. */
function contentOf(state: string): string {
  const db = new Database(path.join(state, 'ledger.db'), { readonly: true });
  try {
    const tables = ['chain', 'push', 'approval', 'request', 'snapshot', 'change'];
    return JSON.stringify(tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all()));
  } finally {
    db.close();
  }
}

async function saidOf(state: string): Promise<string> {
  try {
    const { damaged } = await verifyIn({ state });
    return damaged === undefined ? 'whole' : `${damaged.kind} ${damaged.id}`;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return `exit ${error.exit}`;
  }
}

/** `whole`, `record`, `snapshot` or `exit`, of each change alone. */
async function verifyEach(state: string, changes: readonly Change[]): Promise<readonly string[]> {
  const content = contentOf(state);
  const said: string[] = [];
  for (const [name, at, xor] of changes) {
    const file = path.join(state, name);
    const bytes = readFileSync(file);
    const was = bytes[at]!;
    bytes[at] = was ^ xor;
    writeFileSync(file, bytes);
    const found = await saidOf(state);
    // Bytes that hold nothing may change: what is recorded is then what it was.
    said.push(found === 'whole' && contentOf(state) !== content ? `missed ${name} ${at} ${xor}` : found);
    bytes[at] = was;
    writeFileSync(file, bytes);
    for (const suffix of ['-wal', '-shm']) rmSync(path.join(state, `ledger.db${suffix}`), { force: true });
  }
  return said;
}

describe.skipIf(isMissing)('the checker in Python (skipped where there is no python3)', () => {
  test('says of a whole state what verify says', async () => {
    const one = await chainWorld();
    const { head, records, snapshots } = await one.verify();
    const { exit, json } = check(one.at.state, '--head', head);
    expect([exit, json]).toEqual([0, { ok: true, head, records, snapshots, earlier: 0, bodies: json.bodies }]);
  });

  test('makes the body of a snapshot again: unusual ids, every stamp, and deletes nothing', async () => {
    const ids = ['North', '"quoted" \\ back', 'tab\there', 'Zürich / Öl', '\u{1F4C8}', '\u007f'];
    const rows = ids.map(
      (id) => `"${id.replaceAll('"', '""')}",2026-01,-1.50\n"${id.replaceAll('"', '""')}",2028-02,0`,
    );
    for (const stamp of ['start', 'middle', 'end']) {
      const csv = {
        type: 'csv',
        files: ['a.csv'],
        settle: '0s',
        drivers: [{ id: '{id}', path: ['All', '{id}'], time: '{time}', value: '{value}' }],
      };
      const files = { 'a.csv': ['id,time,value', ...rows, ''].join('\n') };
      await using service = await openReceiver();
      const destination = { url: service.url, stamp, shouldDeleteMissing: stamp !== 'end' };
      const one = withState(await commandsWorld({ a: csv }, files, { destination }));
      expect((await one.run('sync')).code).toBe(0);
      const { json } = check(one.at.state);
      expect(json).toMatchObject({ ok: true, snapshots: 1 });
    }
  });

  test('names the same record or snapshot, and takes no head that the ledger does not continue', async () => {
    const one = await chainWorld();
    const { head } = await one.verify();
    const wrong = head.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    for (const noted of [wrong, `9999:${'0'.repeat(64)}`]) {
      const { exit, json } = check(one.at.state, '--head', noted);
      const { damaged } = await one.verify('--head', noted);
      expect([exit, json.damaged?.id]).toEqual([65, damaged?.id]);
    }
    one.alter(`UPDATE approval SET reason = 'because'`);
    const { exit, json } = check(one.at.state);
    expect([exit, json.damaged?.id, json.head]).toEqual([65, (await one.verify()).damaged?.id, head]);
  });

  // EVERY_BYTE=1 takes every byte of the state in turn, which is half an hour.
  const every = process.env['EVERY_BYTE'] !== undefined;
  test(
    'any byte that is changed is found by both, or holds nothing of the history',
    { timeout: every ? 7_200_000 : 60_000 },
    async () => {
      const one = await chainWorld();
      const state = path.join(one.at.dir, 'copy');
      cpSync(one.at.state, state, { recursive: true });
      const changes = changesOf(state, every ? Infinity : 400);
      const ours = await verifyEach(state, changes);
      const input = changes.map((change) => `${JSON.stringify(change)}\n`).join('');
      const { stdout, stderr } = spawnSync('python3', [changer, checker, state], {
        input,
        encoding: 'utf8',
        maxBuffer: 1e9,
      });
      expect(stderr).toBe('');
      const theirs = stdout.trim().split('\n');
      expect(ours.filter((said) => said.startsWith('missed'))).toEqual([]);
      const isWhole = (said: string): boolean => said === 'whole';
      const differing = changes.flatMap((change, index) => {
        const [a = '', b = ''] = [ours[index], theirs[index]];
        return isWhole(a) === isWhole(b) ? [] : [[...change, a, b].join(' ')];
      });
      expect(differing).toEqual([]);
      // A changed byte of a snapshot is always found.
      const unfound = changes.filter(([file], index) => file !== 'ledger.db' && isWhole(ours[index]!));
      expect([theirs.length, unfound]).toEqual([changes.length, []]);
      expect(ours.filter((said) => said.startsWith('record')).length).toBeGreaterThan(0);
    },
  );
});
