/** Two configs that name one state directory. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';
import { startEmulator } from '../../src/emulator/index.ts';

const drivers = [{ path: ['{region}'], time: '{month}', value: '{amount}' }];

function folder(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-foreign-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(path.join(dir, 'de.csv'), 'region,month,amount\nNorth,2026-01,100\nSouth,2026-01,800\n');
  writeFileSync(path.join(dir, 'fr.csv'), 'region,month,amount\nNorth,2026-02,7\nLyon,2026-02,12\n');
  return dir;
}

function writeConfig(
  dir: string,
  name: string,
  { url, file }: { readonly url: string; readonly file: string },
): string {
  const config = path.join(dir, `${name}.yaml`);
  const revenue = { type: 'csv', files: [file], settle: '0s', drivers };
  writeFileSync(config, JSON.stringify({ destination: { url }, sources: { revenue } }));
  return config;
}

async function command(...line: readonly string[]): Promise<{ readonly exit: number; readonly said: string }> {
  let said = '';
  const writes = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    }),
  );
  try {
    return { exit: await runCommand([...line, '--json']), said };
  } finally {
    for (const write of writes) write.mockRestore();
  }
}

test('one with other sources and another address is refused, and the other service gets nothing', async () => {
  await using german = await startEmulator();
  await using french = await startEmulator();
  const dir = folder();
  const de = writeConfig(dir, 'de', { url: german.url, file: 'de.csv' });
  const fr = writeConfig(dir, 'fr', { url: french.url, file: 'fr.csv' });
  expect((await command('sync', '--config', de)).exit).toBe(0);
  for (const name of ['sync', 'run', 'check']) {
    const { exit, said } = await command(name, '--config', fr);
    expect([name, exit]).toEqual([name, 78]);
    expect(said).toContain(`is that of ${de}, which reads other sources and pushes to ${german.url}`);
  }
  expect((await command('rollback', '1', '--config', fr)).exit).toBe(64);
  expect(french.drivers()).toEqual([]);
  expect((await command('sync', '--config', de)).exit).toBe(0);
});

test('a copy with the same sources and another address goes on, and so does one whose old file is gone', async () => {
  await using first = await startEmulator();
  await using second = await startEmulator();
  const dir = folder();
  const before = writeConfig(dir, 'before', { url: first.url, file: 'de.csv' });
  expect((await command('sync', '--config', before)).exit).toBe(0);
  const copy = writeConfig(dir, 'copy', { url: second.url, file: 'de.csv' });
  expect((await command('sync', '--config', copy)).exit).toBe(0);
  expect(second.drivers()).toHaveLength(2);
  const moved = path.join(dir, 'moved.yaml');
  writeFileSync(moved, readFileSync(copy, 'utf8').replace('de.csv', 'fr.csv').replace(second.url, first.url));
  renameSync(copy, path.join(dir, 'copy.old'));
  expect((await command('check', '--config', moved)).exit).not.toBe(78);
});

test('one of the same address is judged by its sources alone', async () => {
  await using emulator = await startEmulator();
  const dir = folder();
  const de = writeConfig(dir, 'de', { url: emulator.url, file: 'de.csv' });
  const fr = writeConfig(dir, 'fr', { url: emulator.url, file: 'fr.csv' });
  expect((await command('sync', '--config', de)).exit).toBe(0);
  expect((await command('sync', '--config', fr)).exit).not.toBe(78);
});
