/** Helpers for tests of the emulator. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Driver } from '../../src/contract/driver-push.ts';
import { updatePath } from '../../src/contract/update-path.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';

/** An emulator that ends with its test. */
export async function emulatorWorld(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return emulator;
}

type Body = NonNullable<RequestInit['body']> | null;

export type Pusher = Pick<Emulator, 'fetch'>;

/** Sends a body as it is, in memory. */
export async function send(emulator: Pusher, body: Body, headers: Record<string, string> = {}): Promise<Response> {
  return emulator.fetch(updatePath, { method: 'POST', body, headers, duplex: 'half' });
}

export interface UpdateInput {
  readonly shouldDeleteMissing?: boolean;
  readonly extDrivers: readonly unknown[];
}

export async function push(emulator: Pusher, update: UpdateInput): Promise<number> {
  const response = await send(emulator, JSON.stringify(update));
  return response.status;
}

/** `driver('a', '1000 1.5', '2000 2')`: its points as "time value". */
export function driver(id: string, ...points: readonly string[]): Driver {
  const timeSeries = points.map((point) => {
    const [time = '', value = ''] = point.split(' ');
    return { time, value };
  });
  return { id, path: [id], timeSeries };
}

/** UNIX seconds, as text, of a moment such as `2026-03-01T00:00:00Z`. */
export function at(moment: string): string {
  return String(Date.parse(moment) / 1000);
}

export interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

/** Sends a body that the service refuses, and returns the refusal. */
export async function refusalOf(emulator: Pusher, body: Body, headers?: Record<string, string>): Promise<Refusal> {
  const response = await send(emulator, body, headers);
  return { status: response.status, ...((await response.json()) as Omit<Refusal, 'status'>) };
}

/** A body that arrives in pieces. */
export function streamOf(bytes: Uint8Array, pieceBytes: number): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(sent, sent + pieceBytes));
      sent += pieceBytes;
    },
  });
}

/** A directory that ends with its test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'emulator-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}
