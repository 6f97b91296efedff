/** The configs that bugs are planted in, as stages. Apart from `stages.ts`, since it runs outside of a test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openStage } from '../../src/compose/simulated.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Stage } from '../../src/simulate/world/world.ts';

export function stageOfConfig(config: object): Stage {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-planted-'));
  try {
    const file = path.join(dir, 'driver-sync.yaml');
    writeFileSync(file, JSON.stringify(config));
    const { settings, problems } = loadConfig(file, { env: {}, secrets: 'optional' });
    if (settings === undefined) throw new Error(JSON.stringify(problems));
    return openStage(settings).stage;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
