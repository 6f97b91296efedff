/** Downloads of outputs: placeholders that are real media. No key is needed, as for the live service's signed links. */
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { readFilm } from './films.ts';
import { colourOf, smallSizeOf, writePng, writeWav } from './media-files.ts';
import { notFound, Refusal } from './refusal.ts';
import { mediaPath } from './routing.ts';
import type { Routing } from './routing.ts';
import type { Task } from './tasks.ts';
import { acting } from './wire.ts';
import type { Call } from './wire.ts';

const contentTypes = { video: 'video/mp4', image: 'image/png', audio: 'audio/wav' } as const;

export function serveMedia(app: App, routing: Routing): void {
  route(app, '/media/:task/:file', { GET: acting((call) => serveOutput(routing, call)) });
}

function serveOutput(routing: Routing, call: Call): Response {
  const task = routing.task(call.param('task'));
  const output = Number.parseInt(call.param('file'), 10);
  const isOutput = output >= 0 && output < task.outputs && mediaPath(task, output).endsWith(`/${call.param('file')}`);
  if (!isOutput || task.ended === null || task.ending.status !== 'SUCCEEDED')
    throw notFound('the task has no such output');
  const expiresMs = Number(call.query('expires') ?? Number.NaN);
  if (!(expiresMs >= routing.clock.now())) {
    throw new Refusal(403, { error: 'the link is no longer valid: read the task again for a new one' });
  }
  const { bytes, type } = outputOf(task, output);
  return new Response(bytes, { headers: { 'content-type': type, 'content-length': String(bytes.length) } });
}

/** The placeholder for an output of a task, the first of which is 0. */
export function outputOf(
  task: Task,
  output: number,
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string } {
  return { bytes: writeOutput(task, output), type: contentTypes[task.modality] };
}

function writeOutput({ id, modality, resolvedInput }: Task, output: number): Uint8Array<ArrayBuffer> {
  const colour = colourOf(`${id} ${output}`);
  if (modality === 'audio') return Uint8Array.from(writeWav(220 + colour[0]));
  const ratio = 'ratio' in resolvedInput ? resolvedInput.ratio : '1:1';
  if (modality === 'image') return Uint8Array.from(writePng(smallSizeOf(ratio), colour));
  const seconds = 'duration' in resolvedInput ? Math.max(1, Math.round(resolvedInput.duration)) : 1;
  return readFilm({ ratio, variant: colour[0], seconds });
}
