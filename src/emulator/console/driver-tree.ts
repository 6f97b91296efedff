/** The drivers as a tree by path, as links. */
import { html } from 'hono/html';
import type { Driver } from '../../contract/driver-push.ts';
import type { Html } from './page.ts';

/** Deeper paths go on in one line: a page does not get narrower without end. */
const depthMax = 8;

interface Node {
  readonly name: string;
  readonly ids: string[];
  readonly children: Map<string, Node>;
}

/** Which driver is the current one, and which search its neighbours keep to. */
export interface TreeState {
  readonly chosen: string | undefined;
  readonly search: string;
}

export function showTree(drivers: readonly Driver[], state: TreeState): Html {
  const root: Node = { name: '', ids: [], children: new Map() };
  for (const { id, path } of drivers) {
    const shown =
      path.length > depthMax ? [...path.slice(0, depthMax - 1), path.slice(depthMax - 1).join(' / ')] : path;
    let node = root;
    for (const name of shown) {
      let child = node.children.get(name);
      if (child === undefined) node.children.set(name, (child = { name, ids: [], children: new Map() }));
      node = child;
    }
    node.ids.push(id);
  }
  return showChildren(root, state);
}

function showChildren({ children }: Node, state: TreeState): Html {
  const nodes = [...children.values()].sort((first, second) => (first.name < second.name ? -1 : 1));
  return html`<ul>
    ${nodes.map((node) => html`<li>${showNode(node, state)}</li>`)}
  </ul>`;
}

function showNode(node: Node, state: TreeState): Html {
  const { name, ids, children } = node;
  // Several drivers may have one path; then it is their ids that tell them apart.
  const links = ids.map(
    (id) =>
      html`<a href="${addressOf(id, state.search)}" ${id === state.chosen ? html`aria-current="true"` : ''}
        ><bdi>${ids.length > 1 ? `${name} (${id})` : name}</bdi></a
      >`,
  );
  if (children.size === 0) return html`${links}`;
  return html`${links}
    <details open>
      <summary><bdi>${name}</bdi></summary>
      ${showChildren(node, state)}
    </details>`;
}

function addressOf(id: string, search: string): string {
  const query = new URLSearchParams(search === '' ? { id } : { id, find: search });
  return `/console/drivers?${query.toString()}`;
}
