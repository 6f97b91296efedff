/** Stages of the simulated world, made of configs as a user writes them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { openStage } from '../../src/compose/simulated.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/core/settings.ts';
import { sampleFile } from './campaign-configs.ts';

/** One csv source of the columns `id,time,value`, and whatever else is said. */
export function longConfig(source: object = {}, agent: object = {}): object {
  const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }];
  return {
    ...agent,
    destination: { url: 'https://plan.test' },
    sources: { sales: { type: 'csv', files: ['*.csv'], drivers, ...source } },
  };
}

/** A folder with a config, for as long as the test runs. */
export function configFolder(config: object): { readonly dir: string; readonly file: string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-simulate-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = path.join(dir, 'driver-sync.yaml');
  writeFileSync(file, JSON.stringify(config));
  return { dir, file };
}

export function settingsOf(config: object): Settings {
  return settingsIn(configFolder(config).file);
}

function settingsIn(file: string): Settings {
  const { settings, problems } = loadConfig(file, { env: {}, secrets: 'optional' });
  if (settings === undefined) throw new Error(JSON.stringify(problems));
  return settings;
}

export function stageOf(config: object): ReturnType<typeof openStage> {
  return openStage(settingsOf(config));
}

/** The stage of the sample. */
export function stageOfSample(): ReturnType<typeof openStage> {
  return openStage(settingsIn(sampleFile));
}
