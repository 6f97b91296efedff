/** The drivers as a tree by path, as links. */
import { html } from 'hono/html';
import { countOf, groupDigits, visibleOf } from './page.ts';
import type { Html } from './page.ts';

/** Deeper paths go on in one line: a page does not get narrower without end. */
const depthMax = 8;

/** More are counted where they belong, and searched. */
const driversShownMax = 5_000;

/** So many are read at a glance; of more only the groups around the chosen one are open. */
const driversOpenMax = 60;

interface Node {
  readonly name: string;
  readonly ids: string[];
  readonly children: Map<string, Node>;
  /** Drivers here and below. */
  count: number;
  /** Of those, the ones that are in no node of the tree. */
  unshown: number;
  isOpen: boolean;
}

export interface Placed {
  readonly id: string;
  readonly path: readonly string[];
}

/** Which driver is the current one, and which search its neighbours keep to. */
export interface TreeState {
  readonly chosen: string | undefined;
  readonly search: string;
}

export function showTree(drivers: readonly Placed[], state: TreeState): Html {
  return showChildren(buildTree(drivers, state.chosen), state);
}

function buildTree(drivers: readonly Placed[], chosen: string | undefined): Node {
  const areOpen = drivers.length <= driversOpenMax;
  const root = newNode('', areOpen);
  const current = drivers.find(({ id }) => id === chosen);
  // The chosen one is there in any case, whatever does not fit.
  const others = firstOfEachFirst(drivers.filter((driver) => driver !== current));
  for (const { id, path } of [...(current === undefined ? [] : [current]), ...others.slice(0, driversShownMax)]) {
    const nodes = [root];
    for (const name of shownPath(path)) {
      const parent = nodes.at(-1) ?? root;
      const child = parent.children.get(name) ?? newNode(name, areOpen);
      parent.children.set(name, child);
      nodes.push(child);
    }
    nodes.at(-1)?.ids.push(id);
    for (const node of nodes) {
      node.count += 1;
      if (id === chosen) node.isOpen = true;
    }
  }
  for (const { path } of others.slice(driversShownMax)) countUnshown(root, path);
  return root;
}

function newNode(name: string, isOpen: boolean): Node {
  return { name, ids: [], children: new Map(), count: 0, unshown: 0, isOpen };
}

function shownPath(path: readonly string[]): readonly string[] {
  return path.length > depthMax ? [...path.slice(0, depthMax - 1), path.slice(depthMax - 1).join(' / ')] : path;
}

/** The first of each group, then the second of each: where not all fit it is the large groups that are cut. */
function firstOfEachFirst(drivers: readonly Placed[]): readonly Placed[] {
  if (drivers.length <= driversShownMax) return drivers;
  const counts = new Map<string, number>();
  const places = drivers.toSorted(byPath).map((driver) => {
    const group = JSON.stringify(driver.path.slice(0, -1));
    const place = counts.get(group) ?? 0;
    counts.set(group, place + 1);
    return { driver, place };
  });
  return places.sort((first, second) => first.place - second.place).map(({ driver }) => driver);
}

function byPath({ path: first }: Placed, { path: second }: Placed): number {
  const differing = first.findIndex((name, depth) => name !== second[depth]);
  const [one, other] = [first[differing], second[differing]];
  if (one === undefined || other === undefined) return first.length - second.length;
  return one < other ? -1 : 1;
}

/** Counts a driver in the nodes that there are on its way. */
function countUnshown(root: Node, path: readonly string[]): void {
  let node = root;
  root.count += 1;
  for (const name of shownPath(path)) {
    const child = node.children.get(name);
    if (child === undefined) break;
    node = child;
    node.count += 1;
  }
  node.unshown += 1;
}

/** Store 2 before Store 10. */
const byNumber = new Intl.Collator('en', { numeric: true });

function showChildren({ children, unshown }: Node, state: TreeState): Html {
  const nodes = [...children.values()].sort((first, second) => byNumber.compare(first.name, second.name));
  return html`<ul>
    ${nodes.map((node) => html`<li>${showNode(node, state)}</li>`)}
    ${unshown === 0 ? '' : html`<li class="quiet">${countOf(unshown, 'more driver')}, which a search finds</li>`}
  </ul>`;
}

function showNode(node: Node, state: TreeState): Html {
  const { name, ids, children, count, unshown, isOpen } = node;
  // Several drivers may have one path; then it is their ids that tell them apart.
  const links = ids.map(
    (id) =>
      html`<a href="${addressOf(id, state.search)}" ${id === state.chosen ? html`aria-current="true"` : ''}
        ><bdi>${ids.length > 1 ? `${name} (${id})` : visibleOf(name, id)}</bdi></a
      >`,
  );
  if (children.size === 0 && unshown === 0) return html`${links}`;
  const below = count - ids.length;
  return html`${links}
    <details ${isOpen ? 'open' : ''}>
      <summary><bdi>${visibleOf(name)}</bdi> <span class="count">${groupDigits(below)}</span></summary>
      ${showChildren(node, state)}
    </details>`;
}

function addressOf(id: string, search: string): string {
  const query = new URLSearchParams(search === '' ? { id } : { id, find: search });
  return `/console/drivers?${query.toString()}`;
}
