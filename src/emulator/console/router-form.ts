/** The form that creates and edits a router: writing and reading it. */
import { html } from 'hono/html';
import { modalities, optimizationTargets } from '../../contract/routing-settings.ts';
import type { Modality, OptimizationTarget, RouterSettings, SettingsPatch } from '../../contract/routing-settings.ts';
import type { Model } from '../routing/catalog.ts';
import { isEligible, listOf } from './model-list.ts';
import type { ModelList } from './model-list.ts';
import type { Html } from '../../pages/markup.ts';
import { slugOf } from './slug.ts';

/** The fields as text. */
export interface RouterFields {
  /** The version that the form shows; empty for a new router. */
  readonly version: string;
  readonly name: string;
  readonly slug: string;
  readonly optimizeFor: OptimizationTarget;
  readonly includesNew: boolean;
  readonly fallsBack: boolean;
  readonly ceilings: Readonly<Record<Modality, string>>;
  /** Models that the picker shows, and those that are checked. */
  readonly shown: readonly string[];
  readonly checked: ReadonlySet<string>;
}

export function readFields(form: URLSearchParams): RouterFields {
  const text = (name: string): string => form.get(name)?.trim() ?? '';
  const optimizeFor = optimizationTargets.find((target) => target === text('optimizeFor')) ?? 'cost';
  const name = form.get('name') ?? '';
  return {
    version: text('version'),
    name,
    slug: text('slug') || slugOf(name),
    optimizeFor,
    includesNew: form.has('includesNew'),
    fallsBack: form.has('fallsBack'),
    ceilings: { video: text('ceiling-video'), image: text('ceiling-image'), audio: text('ceiling-audio') },
    shown: text('shown').split(' ').filter(Boolean),
    checked: new Set(form.getAll('model')),
  };
}

/** The name in the fields. If it is as it was shown, the previous name is kept with its blanks and line ends. */
export function nameIn({ name }: RouterFields, previous?: string): string {
  // Browsers remove line ends from a field of one line.
  return name === previous?.replaceAll(/[\r\n]/g, '') ? previous : name.trim();
}

/** The settings in the fields, or their problems. */
export function settingsOf(
  fields: RouterFields,
  known: readonly string[],
  previous: ModelList,
): SettingsPatch | string[] {
  const problems: string[] = [];
  const ceilings: Partial<Record<Modality, number | null>> = {};
  for (const modality of modalities) {
    const text = fields.ceilings[modality];
    // The form of JSON numbers, in which a ceiling from the API is shown.
    const ceiling = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
    if (text !== '' && !(ceiling > 0 && ceiling < Infinity))
      problems.push(`${nameOf(modality)} ceiling: must be a number of credits above 0, such as 12.5, or empty`);
    ceilings[modality] = text === '' ? null : ceiling;
  }
  if (problems.length > 0) return problems;
  return {
    optimizeFor: fields.optimizeFor,
    models: listOf(fields, known, previous),
    maxCreditsPerGeneration: ceilings,
    fallback: { onCapacity: fields.fallsBack },
  };
}

/** The differences between the router as it is now and the fields, for somebody who did not see the change. */
export function differencesOf(fields: RouterFields, now: RouterFields): string[] {
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off');
  const eligible = ({ shown, checked }: RouterFields): string => shown.filter((id) => checked.has(id)).join(' ');
  const pairs: (readonly [label: string, own: string, now: string])[] = [
    ['Name', nameIn(fields, now.name), now.name],
    ['Optimize for', fields.optimizeFor, now.optimizeFor],
    [switches.includesNew.label, onOff(fields.includesNew), onOff(now.includesNew)],
    [switches.fallsBack.label, onOff(fields.fallsBack), onOff(now.fallsBack)],
    ...modalities.map(
      (modality) =>
        [`${nameOf(modality)} ceiling`, fields.ceilings[modality] || 'none', now.ceilings[modality] || 'none'] as const,
    ),
  ];
  const differing = pairs
    .filter(([, own, other]) => own !== other)
    .map(([label, , other]) => `${label} is now ${other}`);
  const models = eligible(fields) === eligible(now) ? [] : [`Models: now ${now.checked.size} are eligible`];
  return [...differing, ...models];
}

export interface RouterFormView {
  readonly fields: RouterFields;
  readonly models: readonly Model[];
  readonly action: string;
  /** The Config ID of a router never changes. */
  readonly purpose: 'create' | 'edit';
  readonly problems: readonly string[];
}

const switches = {
  includesNew: {
    label: 'Include newly released models',
    hint: 'Models that join the catalog later are eligible too. Who is eligible today stays the same.',
  },
  fallsBack: {
    label: 'Fall back when a model is at capacity',
    hint: 'Takes the next-best model with room; without it the task waits for the best one.',
  },
} as const;

const targetNames: Readonly<Record<OptimizationTarget, string>> = {
  cost: 'Cost: the lowest estimate',
  quality: 'Quality: what suits the prompt best',
  latency: 'Latency: the fewest expected seconds',
};

export function showRouterForm(view: RouterFormView): Html {
  const { fields, action, purpose, problems } = view;
  return html`${showProblems(problems)}
    <form method="post" action="${action}" class="fields">
      <input type="hidden" name="version" value="${fields.version}" />
      ${showIdentity(view)}
      <div class="field">
        <label for="optimizeFor">Optimize for</label>
        <select id="optimizeFor" name="optimizeFor">
          ${optimizationTargets.map(
            (target) =>
              html`<option value="${target}" ${target === fields.optimizeFor ? 'selected' : ''}>
                ${targetNames[target]}
              </option>`,
          )}
        </select>
      </div>
      ${showSwitch('includesNew', fields.includesNew)} ${showSwitch('fallsBack', fields.fallsBack)}
      <div class="grid">${modalities.map((modality) => showCeiling(modality, fields.ceilings[modality]))}</div>
      ${showPicker(view)}
      <div class="actions">
        <button class="primary">${purpose === 'create' ? 'Create router' : 'Save changes'}</button>
        <a href="/console/routers">Cancel</a>
      </div>
    </form>`;
}

function showProblems(problems: readonly string[]): Html {
  if (problems.length === 0) return html``;
  return html`<div class="problems" role="alert">
    <p><span aria-hidden="true">▲</span> Nothing was saved:</p>
    <ul>
      ${problems.map((problem) => html`<li>${problem}</li>`)}
    </ul>
  </div>`;
}

function showIdentity({ fields: { name, slug }, purpose }: RouterFormView): Html {
  return html`<div class="field">
      <label for="name">Name</label>
      <input id="name" name="name" value="${name}" required maxlength="255" autocomplete="off" />
    </div>
    <div class="field">
      <label for="slug">Config ID</label>
      <input
        id="slug"
        name="slug"
        value="${slug}"
        maxlength="64"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="slug-hint"
        ${purpose === 'edit' ? 'readonly' : ''}
      />
      <p class="hint" id="slug-hint">
        ${purpose === 'edit' ? 'Requests name the router by it; it never changes.' : 'Left empty, it is derived from the name. It never changes afterwards.'}
      </p>
    </div>`;
}

function showSwitch(name: keyof typeof switches, isOn: boolean): Html {
  const { label, hint } = switches[name];
  return html`<div class="field switch">
    <input
      type="checkbox"
      role="switch"
      id="${name}"
      name="${name}"
      value="on"
      aria-describedby="${name}-hint"
      ${isOn ? 'checked' : ''}
    />
    <label for="${name}">${label}</label>
    <p class="hint" id="${name}-hint">${hint}</p>
  </div>`;
}

function showCeiling(modality: Modality, text: string): Html {
  const id = `ceiling-${modality}`;
  return html`<div class="field">
    <label for="${id}">${nameOf(modality)} ceiling</label>
    <input
      id="${id}"
      name="${id}"
      value="${text}"
      inputmode="decimal"
      autocomplete="off"
      class="number"
      aria-describedby="${id}-hint"
    />
    <p class="hint" id="${id}-hint">Credits per generation; empty: none</p>
  </div>`;
}

function showPicker({ fields: { shown, checked }, models }: RouterFormView): Html {
  const groups = modalities.map((modality) => {
    const boxes = models
      .filter((model) => model.modality === modality && shown.includes(model.id))
      .map(
        ({ id, provider }) =>
          html`<li>
            <input
              type="checkbox"
              name="model"
              value="${id}"
              id="model-${id}"
              aria-describedby="provider-${id}"
              ${checked.has(id) ? 'checked' : ''}
            />
            <span
              ><label for="model-${id}">${id}</label> <span class="quiet" id="provider-${id}">${provider}</span></span
            >
          </li>`,
      );
    if (boxes.length === 0) return '';
    return html`<fieldset>
      <legend>${nameOf(modality)}</legend>
      <ul class="boxes">
        ${boxes}
      </ul>
    </fieldset>`;
  });
  const count = shown.filter((id) => checked.has(id)).length;
  return html`<div class="picker" role="group" aria-labelledby="models-label" aria-describedby="models-hint">
    <p id="models-label" class="label">Models</p>
    <p class="hint" id="models-hint">
      Checked is eligible: <output id="eligible">${count}</output> of ${shown.length}. Requests still go only to models
      that can do what they ask for.
    </p>
    <input type="hidden" name="shown" value="${shown.join(' ')}" />
    ${groups}
  </div>`;
}

function nameOf(modality: Modality): string {
  return modality.charAt(0).toUpperCase() + modality.slice(1);
}

/** Fields for a router, or for a new one. */
export function fieldsOf(
  router: {
    readonly name: string;
    readonly slug: string;
    readonly version?: number;
    readonly settings: RouterSettings;
  },
  models: readonly Model[],
): RouterFields {
  const { optimizeFor, models: list, maxCreditsPerGeneration: ceilings, fallback } = router.settings;
  const shown = models.map(({ id }) => id);
  return {
    version: String(router.version ?? ''),
    name: router.name,
    slug: router.slug,
    optimizeFor,
    includesNew: list.mode === 'allow_new_except',
    fallsBack: fallback?.onCapacity ?? false,
    ceilings: {
      video: String(ceilings?.video ?? ''),
      image: String(ceilings?.image ?? ''),
      audio: String(ceilings?.audio ?? ''),
    },
    shown,
    checked: new Set(shown.filter((id) => isEligible(list, id))),
  };
}
