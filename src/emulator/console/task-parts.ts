/** What several pages show of a task. */
import { html } from 'hono/html';
import type { ResolvedInput } from '../../contract/routing-answers.ts';
import type { TaskAnswer } from '../../contract/routing-resources.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { showState, visibleOf } from '../../pages/markup.ts';
import type { Html, Tone } from '../../pages/markup.ts';

export const tasksPath = '/console/tasks';

const tones: Readonly<Record<TaskAnswer['status'], Tone>> = {
  THROTTLED: 'idle',
  PENDING: 'idle',
  RUNNING: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  CANCELLED: 'bad',
};

const words: Readonly<Record<TaskAnswer['status'], string>> = {
  THROTTLED: 'waiting',
  PENDING: 'pending',
  RUNNING: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

/** Its state in a word, and how far it is while it runs. */
export function showTaskState(view: TaskAnswer): Html {
  const { status } = view;
  if (status !== 'RUNNING') return showState(tones[status], words[status]);
  const percent = Math.floor(view.progress * 100);
  return html`${showState('busy', `running ${percent}\u00A0%`)}
    <progress max="100" value="${percent}" aria-label="Progress">${percent} %</progress>`;
}

/** Empty for a router that is gone. */
export function nameOfRouter({ routers }: Routing, id: string): string {
  const router = routers.find(id);
  return router === undefined ? '' : visibleOf(router.name, router.slug);
}

const titleCharacters = 90;

/** The beginning of its prompt. */
export function titleOf({ promptText = '', modality }: Task): string {
  const line = promptText.replaceAll(/\s+/g, ' ').trim();
  const title = line.length > titleCharacters ? `${line.slice(0, titleCharacters).trimEnd()}…` : line;
  return visibleOf(title, `${modality} without a prompt`);
}

export function taskLink(task: Task): Html {
  return html`<a href="${tasksPath}/${task.id}"><bdi>${titleOf(task)}</bdi></a>`;
}

const inputNames: Readonly<Record<string, string>> = {
  duration: 'Seconds',
  ratio: 'Pixels',
  resolution: 'Resolution',
  aspectRatio: 'Aspect ratio',
  type: 'Type',
  voice: 'Voice',
};

/** What the input was resolved to, in words. */
export function resolvedFacts(input: ResolvedInput): (readonly [name: string, value: string])[] {
  return Object.entries(input).map(([name, value]) => [inputNames[name] ?? name, String(value)]);
}
