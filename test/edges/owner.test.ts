/** What root makes in a folder of the agent's user belongs to that user: `plan` and `sync` by root lock no agent out of its own state. */
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { anybody } from '../support/anybody.ts';

const isRoot = process.geteuid?.() === 0;

function folderOf(uid: number, url: string): { readonly config: string; readonly state: string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-owner-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [config, state] = [path.join(dir, 'driver-sync.yaml'), path.join(dir, 'state')];
  mkdirSync(state, { mode: 0o700 });
  chownSync(state, uid, uid);
  writeFileSync(path.join(dir, 'a.csv'), 'name,month,amount\nNorth,2026-01,5\n');
  const drivers = [{ path: ['{name}'], time: '{month}', value: '{amount}' }];
  const sources = { revenue: { type: 'csv', files: ['a.csv'], settle: '0s', drivers } };
  writeFileSync(config, JSON.stringify({ state: 'state', destination: { url }, sources }));
  return { config, state };
}

function ownersIn(state: string): readonly (readonly [string, number])[] {
  return readdirSync(state, { recursive: true, encoding: 'utf8' }).map((name) => [
    name,
    statSync(path.join(state, name)).uid,
  ]);
}

test.skipIf(!isRoot).each([
  ['plan', 2],
  ['sync', 0],
])('%s by root in the folder of another user', async (command, exit) => {
  await using emulator = await startEmulator();
  const { config, state } = folderOf(anybody, emulator.url);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await runCommand([command, '--config', config, '--json'])).toBe(exit);
  const owners = ownersIn(state);
  expect(owners.map(([name]) => name)).toContain('ledger.db');
  expect(owners.filter(([, uid]) => uid !== anybody)).toEqual([]);
});

test.skipIf(!isRoot)('what root makes in a folder of its own stays its own', async () => {
  await using emulator = await startEmulator();
  const { config, state } = folderOf(0, emulator.url);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await runCommand(['sync', '--config', config, '--json']);
  expect(new Set(ownersIn(state).map(([, uid]) => uid))).toEqual(new Set([0]));
});
