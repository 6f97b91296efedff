/** The form that creates and edits a router. */
import { html } from 'hono/html';
import { modalities, optimizationTargets } from '../../contract/routing-settings.ts';
import type { Modality, OptimizationTarget } from '../../contract/routing-settings.ts';
import type { Model } from '../routing/catalog.ts';
import type { Html } from '../../pages/markup.ts';
import { showPicker } from './model-picker.ts';
import { describe, showProblems } from './problems.ts';
import type { Field, Problem } from './problems.ts';
import { nameOfModality, switchLabels } from './router-fields.ts';
import type { CeilingRules, CeilingUnit, RouterFields } from './router-fields.ts';

export interface RouterFormView {
  readonly fields: RouterFields;
  readonly models: readonly Model[];
  readonly action: string;
  /** The Config ID of a router never changes. */
  readonly purpose: 'create' | 'edit';
  readonly problems: readonly Problem[];
  readonly ceilings: CeilingRules;
}

const switchHints = {
  includesNew: 'Models that join the catalog later are eligible too. Who is eligible today stays the same.',
  fallsBack: 'Takes the next-best model with room; without it the task waits for the best one.',
} as const;

const ceilingHints: Readonly<Record<CeilingUnit, string>> = {
  any: 'Credits for one generation',
  whole: 'Whole credits for each output',
};

const targets: Readonly<Record<OptimizationTarget, readonly [name: string, hint: string]>> = {
  cost: ['Cost', 'the lowest estimate'],
  quality: ['Quality', 'what suits the prompt best'],
  latency: ['Latency', 'the fewest expected seconds'],
};

/** The field for a path of the body. */
export function fieldOf(path: string): Field | undefined {
  const [, modality] = /^settings\.maxCreditsPerGeneration\.(\w+)$/.exec(path) ?? [];
  if (modality !== undefined)
    return { id: `ceiling-${modality}`, label: `${nameOfModality(modality as Modality)} ceiling` };
  if (path === 'slug') return { id: 'slug', label: 'Config ID' };
  return path === 'name' ? { id: 'name', label: 'Name' } : undefined;
}

export function showRouterForm(view: RouterFormView): Html {
  const { fields, models, action, purpose, problems } = view;
  return html`${showProblems('Nothing was saved:', problems)}
    <form method="post" action="${action}" class="router">
      <button class="unseen" tabindex="-1" aria-hidden="true">Save</button>
      <input type="hidden" name="version" value="${fields.version}" />
      <div class="halves even">
        <div>${showIdentity(view)} ${showTargets(fields.optimizeFor)}</div>
        <div>
          ${showSwitch('includesNew', fields.includesNew)} ${showSwitch('fallsBack', fields.fallsBack)}
          <fieldset class="ceilings">
            <legend>Ceilings</legend>
            <div class="grid">${modalities.map((modality) => showCeiling(modality, view))}</div>
            <p class="hint" id="ceiling-hint">${hintOfCeilings(view.ceilings)}</p>
          </fieldset>
        </div>
      </div>
      ${showPicker(fields, models)}
      <div class="actions">
        <button class="primary">${purpose === 'create' ? 'Create router' : 'Save changes'}</button>
        <a href="/console/routers">Cancel</a>
      </div>
    </form>`;
}

function showIdentity({ fields: { name, slug }, purpose, problems }: RouterFormView): Html {
  return html`<div class="field">
      <label for="name">Name</label>
      <input
        id="name"
        name="name"
        value="${name}"
        required
        maxlength="255"
        autocomplete="off"
        ${describe('name', [], problems)}
      />
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
        ${describe('slug', ['slug-hint'], problems)}
        ${purpose === 'edit' ? 'readonly' : ''}
      />
      <p class="hint" id="slug-hint">
        ${purpose === 'edit' ? 'Requests name the router by it; it never changes.' : 'Left empty, it is derived from the name. It never changes afterwards.'}
      </p>
    </div>`;
}

function showTargets(chosen: OptimizationTarget): Html {
  return html`<fieldset class="targets">
    <legend>Optimize for</legend>
    ${optimizationTargets.map((target) => {
      const [name, hint] = targets[target];
      const id = `optimizeFor-${target}`;
      return html`<label for="${id}">
        <input type="radio" id="${id}" name="optimizeFor" value="${target}" ${target === chosen ? 'checked' : ''} />
        <span>${name}</span> <span class="hint">${hint}</span>
      </label>`;
    })}
  </fieldset>`;
}

function showSwitch(name: keyof typeof switchLabels, isOn: boolean): Html {
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
    <label for="${name}">${switchLabels[name]}</label>
    <p class="hint" id="${name}-hint">${switchHints[name]}</p>
  </div>`;
}

function hintOfCeilings({ unit, kept }: CeilingRules): string {
  const emptied = kept.length === modalities.length ? '' : '; empty: none';
  return `${ceilingHints[unit]}${emptied}${kept.length === 0 ? '' : '. One that is set cannot be cleared'}`;
}

function showCeiling(modality: Modality, { fields, ceilings, problems }: RouterFormView): Html {
  const id = `ceiling-${modality}`;
  return html`<div class="field">
    <label for="${id}">${nameOfModality(modality)}<span class="unseen"> ceiling</span></label>
    <input
      id="${id}"
      name="${id}"
      value="${fields.ceilings[modality]}"
      inputmode="decimal"
      ${ceilings.kept.includes(modality) ? 'required' : ''}
      autocomplete="off"
      class="number"
      ${describe(id, ['ceiling-hint'], problems)}
    />
  </div>`;
}
