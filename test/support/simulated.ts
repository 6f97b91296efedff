/** `driver-sync simulate` on a config, as it is typed, in a folder of its own. */
import { vi } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { simulate } from '../../src/cli/simulate.ts';
import { configFolder } from './stages.ts';

export async function simulated(
  config: object,
  options: Parameters<typeof simulate>[1],
  { json = true } = {},
): Promise<{ dir: string; exit: number; text: string; json: Record<string, unknown> }> {
  const { dir, file } = configFolder(config);
  const context: Context = { options: { config: file, json }, env: {}, cwd: dir, version: '0.0.0' };
  let text = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    const exit = await simulate(context, options);
    return { dir, exit, text, json: json ? (JSON.parse(text) as Record<string, unknown>) : {} };
  } finally {
    stdout.mockRestore();
  }
}
