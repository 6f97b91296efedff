/** The independent checker in docs/verify: it says what `verify` says, of a state that is whole and of any changed byte. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyIn } from '../../src/compose/state.ts';
import { AgentError } from '../../src/core/errors.ts';
import { isCampaign } from '../support/campaign.ts';
import { type Verified, chainWorld, withState } from '../support/chain-world.ts';
import { commandsWorld, manyDrivers } from '../support/commands-world.ts';
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

  describe('tampering by hand', () => {
    type Tamper = (place: { readonly state: string; readonly db: Database.Database }) => void;
    const snapshot = (state: string, digest: string): string => path.join(state, 'archive', `${digest}.snapshot`);
    const digests = (state: string): [string, string] =>
      readdirSync(path.join(state, 'archive')).map((name) => name.replace('.snapshot', '')) as [string, string];
    const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
    /** Makes the sha256 of a record fit its content, as it stands now. */
    const seal = (db: Database.Database, n: number): void => {
      const text = (column: string, of: number): string =>
        db.prepare(`SELECT ${column} FROM chain WHERE n = ?`).pluck().get(of) as string;
      db.prepare('UPDATE chain SET sha256 = ? WHERE n = ?').run(
        sha256(`${text('sha256', n - 1)}\n${text('content', n)}`),
        n,
      );
    };
    const tampers: readonly (readonly [what: string, tamper: Tamper])[] = [
      [
        'two records are swapped',
        ({ db }) => {
          db.exec('UPDATE chain SET n = -n WHERE n IN (4, 5); UPDATE chain SET n = 9 + n WHERE n < 0');
        },
      ],
      [
        'the newest records are cut off',
        ({ db }) => db.exec('DELETE FROM chain WHERE n > (SELECT max(n) - 3 FROM chain)'),
      ],
      [
        'a record is taken out and the others move up',
        ({ db }) => db.exec('DELETE FROM chain WHERE n = 4; UPDATE chain SET n = n - 1 WHERE n > 4'),
      ],
      [
        'a reason is changed in its row and in its record',
        ({ db }) =>
          db.exec(`UPDATE approval SET reason = 'regions sold';
            UPDATE chain SET content = replace(content, 'regions closed', 'regions sold')`),
      ],
      [
        'a person is changed in the row and in the record, which is sealed again',
        ({ db }) => {
          const n = db
            .prepare(`SELECT max(n) FROM chain WHERE content ->> 'kind' = 'approval'`)
            .pluck()
            .get() as number;
          db.exec(`UPDATE approval SET by_user = 'eve'`);
          db.exec(`UPDATE chain SET content = json_set(content, '$.row.by_user', 'eve') WHERE n = ${n}`);
          seal(db, n);
        },
      ],
      [
        'an approval is made to cover a slip',
        ({ db }) =>
          db.exec(
            `UPDATE approval SET findings = '[{"kind":"factor","group":[],"points":9,"of":9,"factor":"1000","examples":[]}]'`,
          ),
      ],
      [
        'a record of an approval is added that no row has',
        ({ db }) => {
          db.exec(`INSERT INTO chain SELECT (SELECT max(n) + 1 FROM chain), json_set(content, '$.row.id', 99), '' FROM chain
            WHERE content ->> 'kind' = 'approval' ORDER BY n DESC LIMIT 1`);
          seal(db, db.prepare('SELECT max(n) FROM chain').pluck().get() as number);
        },
      ],
      [
        'a push that never was has carried months',
        ({ db }) => db.exec(`INSERT INTO change VALUES ('R0', 99, x'01C8BB01')`),
      ],
      [
        'a push is made to have carried a driver first',
        ({ db }) => db.exec(`UPDATE change SET push = 2 WHERE driver = 'R9'`),
      ],
      [
        'a snapshot gives way to another one of its size',
        ({ state }) => {
          const [one, other] = digests(state);
          const bytes = readFileSync(snapshot(state, other));
          const size = readFileSync(snapshot(state, one)).length;
          writeFileSync(snapshot(state, one), Buffer.concat([bytes, Buffer.alloc(size)]).subarray(0, size));
        },
      ],
      [
        'two snapshots change names',
        ({ state }) => {
          const [one, other] = digests(state).map((digest) => snapshot(state, digest)) as [string, string];
          const bytes = readFileSync(one);
          writeFileSync(one, readFileSync(other));
          writeFileSync(other, bytes);
        },
      ],
      [
        'a snapshot and the sha256 in its row are another',
        ({ state, db }) => {
          const [one, other] = digests(state);
          writeFileSync(snapshot(state, one), readFileSync(snapshot(state, other)));
          db.exec(`UPDATE snapshot SET file_sha256 = (SELECT file_sha256 FROM snapshot WHERE digest = '${other}')
            WHERE digest = '${one}'`);
        },
      ],
    ];

    test('is found by both, which name the same record or snapshot', async () => {
      const one = await chainWorld();
      for (const [what, tamper] of tampers) {
        const state = path.join(one.at.dir, what);
        cpSync(one.at.state, state, { recursive: true });
        const db = new Database(path.join(state, 'ledger.db'));
        tamper({ state, db });
        db.close();
        const { damaged } = await verifyIn({ state });
        const { exit, json } = check(state);
        expect([what, damaged === undefined, exit]).toEqual([what, false, 65]);
        expect([what, json.damaged?.kind, json.damaged?.id]).toEqual([what, damaged?.kind, damaged?.id]);
      }
    });

    test('is found only by a noted head where the newest record goes with its row, or an older copy comes back', async () => {
      const one = await chainWorld();
      const older = path.join(one.at.dir, 'older');
      cpSync(one.at.state, older, { recursive: true });
      await one.at.write('a.csv', manyDrivers(2));
      const { sources } = await one.json<{ sources: { digest: string }[] }>('plan');
      await one.run('approve', sources[0]!.digest, '--reason', 'a mistake');
      const { head, records } = await one.verify();
      one.alter('DELETE FROM approval WHERE id = (SELECT max(id) FROM approval)');
      one.alter('DELETE FROM chain WHERE n = ?', records);
      const [n, noted] = head.split(':') as [string, string];
      for (const state of [one.at.state, older]) {
        expect((await verifyIn({ state })).damaged).toBeUndefined();
        expect(check(state).exit).toBe(0);
        const { damaged } = await verifyIn({ state }, { n: Number(n), sha256: noted });
        const { exit, json } = check(state, '--head', head);
        expect([damaged?.id, exit, json.damaged?.id]).toEqual([records, 65, records]);
      }
    });
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
      const changes = changesOf(state, every ? Infinity : isCampaign ? 400 : 100);
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
