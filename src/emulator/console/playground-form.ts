/** The form of the playground. A stylesheet shows the fields of the chosen modality, so that it takes no script. */
import { html } from 'hono/html';
import {
  imageAspectRatios,
  imageResolutions,
  videoAspectRatios,
  videoResolutions,
} from '../../contract/routing-inputs.ts';
import { modalities, optimizationTargets } from '../../contract/routing-settings.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import type { Router } from '../routing/routers.ts';
import { visibleOf } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { showCodeField } from './code-field.ts';
import type { CodeField } from './code-field.ts';
import { nameOfModality } from './router-fields.ts';
import { ownFields } from './playground-fields.ts';
import type { PlaygroundFields } from './playground-fields.ts';
import { describe } from './problems.ts';
import type { Problem } from './problems.ts';

export interface PlaygroundView {
  readonly routers: readonly Router[];
  readonly fields: PlaygroundFields;
  readonly problems: readonly Problem[];
  /** The path that the form is sent to. */
  readonly action: string;
}

/** What a field takes: one of some values, or a text with a hint. */
const values: Readonly<Record<string, readonly (readonly [value: string, name: string])[] | string>> = {
  'video-duration': 'Seconds; empty: 5',
  'video-aspectRatio': named(videoAspectRatios),
  'video-resolution': named(videoResolutions),
  'video-audio': [
    ['', 'any'],
    ['on', 'on'],
    ['off', 'off'],
  ],
  'video-imageUri': 'A URI, for image to video',
  'image-outputCount': '1 to 10; empty: 1',
  'image-aspectRatio': named(imageAspectRatios),
  'image-resolution': named(imageResolutions),
  'image-imageUri': 'A URI',
  'audio-type': [
    ['', 'the default'],
    ['speech', 'speech'],
    ['audio', 'audio'],
  ],
  'audio-duration': 'Seconds, of sounds',
};

function named(all: readonly string[]): readonly (readonly [string, string])[] {
  return [['', 'any'], ...all.map((value) => [value, value] as const)];
}

const moreField: CodeField = {
  id: 'more',
  label: 'More input (JSON)',
  rows: 3,
  hint: html`An object of any other keys of <code>input</code>, such as <code>{"seed": 7}</code>`,
};

export function showForm(view: PlaygroundView): Html {
  const { routers, fields, problems, action } = view;
  const options = routers.map(({ slug, name }) => [slug, `${visibleOf(name, slug)} (${slug})`] as const);
  return html`<form method="post" action="${action}" class="playground">
    <div class="field">
      <label for="router">Router</label>
      ${showSelect('router', { chosen: fields.router, options }, problems)}
    </div>
    <fieldset class="field">
      <legend class="unseen">Modality</legend>
      <div class="segments radios">${modalities.map((modality) => showModality(modality, fields.modality))}</div>
    </fieldset>
    <div class="field">
      <label for="prompt">Prompt</label>
      <textarea id="prompt" name="prompt" rows="5" ${describe('prompt', [], problems)}>${fields.prompt}</textarea>
    </div>
    ${modalities.map((modality) => showOwn(modality, view))}
    <details class="more" ${fields.more === '' ? '' : 'open'}>
      <summary>More input</summary>
      ${showCodeField(moreField, fields.more, problems)}
    </details>
    <div class="field">
      <label for="against">Compare with</label>
      ${showSelect('against', { chosen: fields.against, options: againstOptions(routers) }, problems)}
    </div>
    <div class="actions">
      <button class="primary">Dry run</button>
      <button name="act" value="generate" aria-describedby="generate-hint">Generate</button>
    </div>
    <p class="hint" id="generate-hint">A dry run creates nothing. Generate makes a task and takes its credits.</p>
  </form>`;
}

function againstOptions(routers: readonly Router[]): readonly (readonly [string, string])[] {
  return [
    ['', 'nothing'],
    ...optimizationTargets.map((target) => [`for:${target}`, `the same router, for ${target}`] as const),
    ...routers.map(({ slug, name }) => [`router:${slug}`, visibleOf(name, slug)] as const),
  ];
}

function showModality(modality: Modality, chosen: Modality): Html {
  const id = `modality-${modality}`;
  return html`<label for="${id}">
    <input type="radio" id="${id}" name="modality" value="${modality}" ${modality === chosen ? 'checked' : ''} />
    ${nameOfModality(modality)}
  </label>`;
}

function showOwn(modality: Modality, { fields, problems }: PlaygroundView): Html {
  return html`<div class="grid own ${modality}">
    ${Object.entries(ownFields[modality]).map(([name, label]) => {
      const id = `${modality}-${name}`;
      const chosen = fields.own[id] ?? '';
      const taken = values[id] ?? '';
      return html`<div class="field">
        <label for="${id}">${label}</label>
        ${
          typeof taken === 'string'
            ? html`<input
                  id="${id}"
                  name="${id}"
                  value="${chosen}"
                  autocomplete="off"
                  ${describe(id, [`${id}-hint`], problems)}
                />
                <p class="hint" id="${id}-hint">${taken}</p>`
            : showSelect(id, { chosen, options: taken }, problems)
        }
      </div>`;
    })}
  </div>`;
}

interface Choice {
  readonly chosen: string;
  /** Pairs of value and text. */
  readonly options: readonly (readonly [value: string, text: string])[];
}

function showSelect(id: string, { chosen, options }: Choice, problems: readonly Problem[]): Html {
  return html`<select id="${id}" name="${id}" ${describe(id, [], problems)}>
    ${options.map(
      ([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`,
    )}
  </select>`;
}
