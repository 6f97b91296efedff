import { AgentError } from '../core/errors.ts';
import { type Context, print } from './context.ts';
import { isPortInUse } from './embedded.ts';

export interface EmulatorFlags {
  readonly listen: string;
  readonly state?: string;
  readonly token?: string;
  readonly strict?: boolean;
}

/** Serves the emulator until SIGTERM or SIGINT. */
export async function emulator(_context: Context, flags: EmulatorFlags): Promise<number> {
  const { host, port } = parseListen(flags.listen);
  const { startEmulator } = await import('../emulator/index.ts');
  const { state, token, strict } = flags;
  const emulated = await startEmulator({ host, port, state, token, strict }).catch((error: unknown) => {
    if (!isPortInUse(error)) throw error;
    throw new AgentError('emulator.port', `${flags.listen} is in use`, { hint: 'choose another port with --listen' });
  });
  await using _emulator = emulated;
  print(`emulator: ${emulated.url}\ndrivers:  ${emulated.url}/_emulator/drivers`);
  await new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  });
  return 0;
}

function parseListen(listen: string): { host: string; port: number } {
  const found = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  const port = Number(found?.[2]);
  if (found === null || port > 65_535) {
    throw new AgentError('usage', `"${listen}" is no address to listen on`, { hint: 'write it as 127.0.0.1:8787' });
  }
  return { host: found[1]?.replace(/^\[|\]$/g, '') ?? '127.0.0.1', port };
}
