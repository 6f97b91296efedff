/** A directory with a config file in it, and what the agent makes of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import type { Settings, SourceSettings } from '../../src/core/settings.ts';

/** A new directory that goes with the test. */
export function directory(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'driver-sync-config-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export interface World {
  readonly env?: NodeJS.ProcessEnv;
  readonly secrets?: 'required' | 'optional';
  /** Further files, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

export function load(yaml: string | Uint8Array, world: World = {}): LoadedConfig {
  const at = directory();
  for (const [name, text] of Object.entries(world.files ?? {})) {
    mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
    writeFileSync(path.join(at, name), text);
  }
  const file = path.join(at, 'driver-sync.yaml');
  writeFileSync(file, yaml);
  return loadConfig(file, { env: world.env ?? {}, secrets: world.secrets ?? 'required' });
}

/** Problems as `line:column path: message (hint)`. */
export function problems(yaml: string | Uint8Array, world: World = {}): string[] {
  return load(yaml, world).problems.map(
    ({ line, column, path: at, message, hint }) =>
      `${line}:${column} ${at}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
}

export function settings(yaml: string, world: World = {}): Settings {
  const loaded = load(yaml, world);
  if (loaded.settings === undefined) throw new Error(JSON.stringify(loaded.problems, null, 1));
  return loaded.settings;
}

/** Goes after whatever a test is about, so that the rest of the config is right. */
export const rest = `
destination: emulator
sources: {}
`;

/** A config whose only source has these lines, indented by four. */
export function sourceYaml(lines: string): string {
  return `destination: emulator
sources:
  s:
    type: csv
    files: [a.csv]
${lines.includes('drivers:') ? '' : '    drivers: [{ path: [a], time: "{t}", value: "{v}" }]\n'}${lines}
`;
}

export function source(lines: string, world: World = {}): SourceSettings {
  const [only] = settings(sourceYaml(lines), world).sources;
  if (only === undefined) throw new Error('no source');
  return only;
}
