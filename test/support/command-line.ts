/** Commands in this process: what the executable does with its arguments, without the 0.3 s that starting it costs. */
import path from 'node:path';
import { expect, vi } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What stdout has, which must be one JSON document. */
  readonly json: <T = Record<string, unknown>>() => T;
}

/** Runs a command line and gives its exit code and what it printed. */
export async function commandLine(...args: readonly string[]): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      printed[stream] += String(chunk);
      return true;
    }),
  );
  try {
    const code = await runCommand(args);
    return { code, ...printed, json: <T>() => JSON.parse(printed.stdout) as T };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** The same with the config of a place: for what is done beside a process that is tested, or asked after it. */
export async function commandAt(
  { dir }: { readonly dir: string },
  command: string,
  ...args: readonly string[]
): Promise<Ran> {
  return await commandLine(command, '--config', path.join(dir, 'driver-sync.yaml'), ...args);
}

const number: unknown = expect.any(Number);
const counts = { create: number, update: number, delete: number };

/** The shapes that scripts rely on. */
export const shapes = {
  digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  moment: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as unknown,
  changes: { drivers: counts, points: counts },
  source: {
    name: expect.any(String) as unknown,
    state: expect.stringMatching(/^(accepted|unchanged|held|unread)$/) as unknown,
    parts: number,
    rows: number,
    rejects: number,
    drivers: number,
    points: number,
    changes: { drivers: counts, points: counts },
    carried: expect.any(Array) as unknown,
  },
  /** What a command that failed prints with --json. */
  failure: (exit: number) => ({
    error: { code: expect.stringMatching(/./) as unknown, message: expect.stringMatching(/./) as unknown },
    exit,
  }),
};
