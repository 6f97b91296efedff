/** The form of the playground: its fields, and the request that they make. */
import { html } from 'hono/html';
import { modalities } from '../../contract/routing-settings.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import { invalidAt } from '../routing/refusal.ts';
import type { Router } from '../routing/routers.ts';
import { visibleOf } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

const audioTypes = ['speech', 'audio'] as const;

/** The fields as text. Empty ones are not sent. */
export interface PlaygroundFields {
  readonly router: string;
  readonly modality: Modality;
  readonly prompt: string;
  readonly duration: string;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly imageUri: string;
  readonly outputCount: string;
  readonly audioType: string;
  /** A JSON object whose keys are added to the input. */
  readonly more: string;
}

export function readFields(form: URLSearchParams): PlaygroundFields {
  const text = (name: string): string => form.get(name)?.trim() ?? '';
  return {
    router: text('router'),
    modality: modalities.find((modality) => modality === text('modality')) ?? 'image',
    // Browsers send a line end as two characters.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    duration: text('duration'),
    aspectRatio: text('aspectRatio'),
    resolution: text('resolution'),
    imageUri: text('imageUri'),
    outputCount: text('outputCount'),
    audioType: text('audioType'),
    more: text('more'),
  };
}

/** The body of the request. @throws Refusal 400 where `more` is no JSON object. */
export function bodyOf(fields: PlaygroundFields): object {
  const { router, modality, prompt, aspectRatio, resolution, imageUri, audioType } = fields;
  const image = modality === 'video' ? { uri: imageUri, role: 'first' } : { uri: imageUri };
  const input = {
    ...(prompt !== '' && { promptText: prompt }),
    ...(fields.duration !== '' && { duration: numberOf(fields.duration) }),
    ...(aspectRatio !== '' && { aspectRatio }),
    ...(resolution !== '' && { resolution }),
    ...(imageUri !== '' && { referenceImages: [image] }),
    ...(fields.outputCount !== '' && { outputCount: numberOf(fields.outputCount) }),
    ...(audioType !== '' && { type: audioType }),
    ...moreOf(fields),
  };
  return { configId: router, input, dryRun: true };
}

/** Text that is not a number stays as it is, and the schema refuses it. */
function numberOf(text: string): number | string {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text;
}

function moreOf({ more }: PlaygroundFields): object {
  if (more === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(more);
  } catch (error) {
    throw invalidAt(['More input'], `is not JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidAt(['More input'], 'must be an object, such as {"seed": 7}');
}

/** @param action the path that the form is sent to */
export function showForm(routers: readonly Router[], fields: PlaygroundFields, action: string): Html {
  return html`<form method="post" action="${action}" class="fields">
    ${showChoice('router', {
      label: 'Router',
      chosen: fields.router,
      options: routers.map(({ slug, name }) => [slug, `${visibleOf(name, slug)} (${slug})`]),
    })}
    ${showChoice('modality', {
      label: 'Modality',
      chosen: fields.modality,
      options: modalities.map((modality) => [modality, modality]),
    })}
    <div class="field">
      <label for="prompt">Prompt</label>
      <textarea id="prompt" name="prompt" rows="4">${fields.prompt}</textarea>
    </div>
    <div class="grid">
      ${showText('duration', { label: 'Duration', text: fields.duration, hint: 'Seconds; empty: the default' })}
      ${showText('aspectRatio', { label: 'Aspect ratio', text: fields.aspectRatio, hint: 'Such as 16:9' })}
      ${showText('resolution', { label: 'Resolution', text: fields.resolution, hint: 'Such as 720p or 2k' })}
      ${showText('imageUri', { label: 'Image', text: fields.imageUri, hint: 'A URI, for image to video or as a reference' })}
      ${showText('outputCount', { label: 'Outputs', text: fields.outputCount, hint: 'Of images; empty: 1' })}
      ${showChoice('audioType', {
        label: 'Audio type',
        chosen: fields.audioType,
        options: [['', 'the default'], ...audioTypes.map((type) => [type, type] as const)],
      })}
    </div>
    <details class="more" ${fields.more === '' ? '' : 'open'}>
      <summary>More input</summary>
      <div class="field">
        <label for="more">More input (JSON)</label>
        <textarea id="more" name="more" rows="3" class="code" spellcheck="false" aria-describedby="more-hint">
${fields.more}</textarea>
        <p class="hint" id="more-hint">
          An object of any other keys of <code>input</code>, such as <code>{"audio": true, "seed": 7}</code>
        </p>
      </div>
    </details>
    <div class="actions"><button class="primary">Dry run</button></div>
  </form>`;
}

interface Choice {
  readonly label: string;
  readonly chosen: string;
  /** Pairs of value and text. */
  readonly options: readonly (readonly [string, string])[];
}

function showChoice(id: string, { label, chosen, options }: Choice): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${id}">
      ${options.map(
        ([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`,
      )}
    </select>
  </div>`;
}

function showText(id: string, { label, text, hint }: { label: string; text: string; hint: string }): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${id}" value="${text}" autocomplete="off" aria-describedby="${id}-hint" />
    <p class="hint" id="${id}-hint">${hint}</p>
  </div>`;
}
