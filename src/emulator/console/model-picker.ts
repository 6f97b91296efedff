/** The picker of models: what each costs, how fast and how good it is, and whether a ceiling excludes it. */
import { html } from 'hono/html';
import { modalities } from '../../contract/routing-settings.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import type { Model } from '../routing/catalog.ts';
import { groupDecimal } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import type { RouterFields } from './router-fields.ts';
import { nameOfModality } from './router-fields.ts';
import { usualCreditsOf, usualRequests } from './usual-cost.ts';

/** Values of the buttons: all models, none, or those of one modality. */
export type Pick = `${'all' | 'none'}${'' | ` ${Modality}`}`;

const scoreMax = 10;

/** The checked models after a button of the picker. */
export function picked(pick: string, { checked, shown }: RouterFields, models: readonly Model[]): ReadonlySet<string> {
  const [what, which] = pick.split(' ');
  const meant = new Set(
    models
      .filter(({ id, modality }) => shown.includes(id) && (which === undefined || modality === which))
      .map(({ id }) => id),
  );
  return what === 'all' ? new Set([...checked, ...meant]) : new Set([...checked].filter((id) => !meant.has(id)));
}

export function showPicker(fields: RouterFields, models: readonly Model[]): Html {
  const { shown, checked } = fields;
  const count = shown.filter((id) => checked.has(id)).length;
  return html`<div class="picker" role="group" aria-labelledby="models-label" aria-describedby="models-hint">
    <div class="heading">
      <h2 id="models-label">Models</h2>
      <p class="links">
        <label class="only-script">Filter <input type="search" id="filter" autocomplete="off" /></label>
        ${showButtons()}
      </p>
    </div>
    <p class="hint" id="models-hint">
      Checked is eligible: <output id="eligible">${count}</output> of ${shown.length}. Requests still go only to models
      that can do what they ask for, for no more than the ceiling.
    </p>
    <input type="hidden" name="shown" value="${shown.join(' ')}" />
    ${modalities.map((modality) => showGroup(modality, fields, models))}
  </div>`;
}

/** They send the form, which comes back with other checks: nothing is saved. A script needs no way there and back. */
function showButtons(modality?: Modality): Html {
  return html`${(['all', 'none'] as const).map((what) => {
    const pick: Pick = modality === undefined ? what : `${what} ${modality}`;
    const name = what === 'all' ? 'All' : 'None';
    return html`<button
      class="plain"
      name="pick"
      value="${pick}"
      formnovalidate
      aria-label="${name} ${modality ?? 'models'}"
    >
      ${name}
    </button>`;
  })}`;
}

function showGroup(
  modality: Modality,
  { shown, checked, ceilings }: RouterFields,
  models: readonly Model[],
): Html | '' {
  const group = models.filter((model) => model.modality === modality && shown.includes(model.id));
  if (group.length === 0) return '';
  const isChecked = ({ id }: Model): boolean => checked.has(id);
  return html`<fieldset data-modality="${modality}">
    <legend>
      ${nameOfModality(modality)}
      <span class="quiet"><span data-count>${group.filter(isChecked).length}</span> of ${group.length}</span>
      ${showButtons(modality)}
    </legend>
    <table class="columns">
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" class="number">Credits</th>
          <th scope="col" class="number">Seconds</th>
          <th scope="col" class="number">Quality</th>
        </tr>
      </thead>
      <tbody>
        ${group.map((model) => showModel(model, isChecked(model), Number(ceilings[modality] || Infinity)))}
      </tbody>
    </table>
    <p class="hint">Credits are for a usual request: ${usualRequests[modality]}.</p>
  </fieldset>`;
}

function showModel(model: Model, isChecked: boolean, ceiling: number): Html {
  const { id, provider, expectedSeconds, quality } = model;
  const credits = usualCreditsOf(model);
  const isAbove = credits !== undefined && credits > ceiling;
  return html`<tr ${credits === undefined ? '' : html`data-credits="${credits}"`}>
    <th scope="row" class="row">
      <span class="model">
        <input
          type="checkbox"
          name="model"
          value="${id}"
          id="model-${id}"
          aria-describedby="provider-${id} above-${id}"
          ${isChecked ? 'checked' : ''}
        />
        <label for="model-${id}">${id}</label> <span class="quiet" id="provider-${id}">${provider}</span>
        <span class="above" id="above-${id}" ${isAbove ? '' : 'hidden'}>above the ceiling</span>
      </span>
    </th>
    <td class="number">${credits === undefined ? '–' : groupDecimal(String(credits))}</td>
    <td class="number">${expectedSeconds}</td>
    <td class="number quality">
      ${quality}
      <svg class="bar" aria-hidden="true"><rect width="${(100 * quality) / scoreMax}%" height="100%" rx="2" /></svg>
    </td>
  </tr>`;
}
