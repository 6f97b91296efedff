/** What a list shows: one of a few kinds, and what has a text in it. */
import { html } from 'hono/html';
import { groupDigits } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

export interface Choice {
  /** The address of the list. */
  readonly path: string;
  /** The parameter that names the kind. */
  readonly name: string;
  readonly label: string;
  readonly chosen: string;
  /** The kinds, and how many there are of each. The first one is all. */
  readonly options: readonly (readonly [kind: string, count: number])[];
  readonly find: string;
  /** What is searched. */
  readonly hint: string;
}

export function showChoice({ path, name, label, chosen, options, find, hint }: Choice): Html {
  return html`<div class="choice">
    <ul class="segments" aria-label="${label}">
      ${options.map(([kind, count]) => {
        const query = new URLSearchParams(find === '' ? { [name]: kind } : { [name]: kind, find }).toString();
        return html`<li>
          <a href="${path}?${query}" ${kind === chosen ? html`aria-current="true"` : ''}
            >${kind} <span class="count">${groupDigits(count)}</span></a
          >
        </li>`;
      })}
    </ul>
    <form action="${path}" role="search" class="search">
      <input type="hidden" name="${name}" value="${chosen}" />
      <label for="find" class="unseen">${hint}</label>
      <input
        id="find"
        name="find"
        type="search"
        value="${find}"
        placeholder="${hint}"
        autocomplete="off"
        spellcheck="false"
      />
      <button>Find</button>
    </form>
  </div>`;
}
