/** The tree of drivers by path, as links. */
import { html } from 'hono/html';
import { countOf, groupDigits, visibleOf } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

/** Deeper levels are shown in one line, so that they do not become too narrow. */
const depthMax = 8;

/** Most drivers that a tree lists. Further ones are only counted, and found by search. */
const driversShownMax = 5_000;

/** Up to this many drivers all groups are open; beyond it only those around the chosen one. */
const driversOpenMax = 60;

/** Sorts "Store 2" before "Store 10". */
const byNumber = new Intl.Collator('en', { numeric: true });

interface Node {
  readonly name: string;
  readonly ids: string[];
  readonly children: Map<string, Node>;
  /** Drivers here and below. */
  count: number;
  /** Drivers below that the tree does not list. */
  unshown: number;
  isOpen: boolean;
}

export interface Placed {
  readonly id: string;
  readonly path: readonly string[];
}

/** The current driver, and the search that links keep. */
export interface TreeState {
  readonly chosen: string | undefined;
  readonly search: string;
}

export function showTree(drivers: readonly Placed[], state: TreeState): Html {
  return showChildren(buildTree(drivers, state.chosen), state);
}

/** The driver with which the tree begins; of several at one path the first. */
export function firstOfTree(drivers: readonly Placed[]): Placed | undefined {
  return drivers.reduce<Placed | undefined>(
    (first, driver) => (first === undefined || compareInTree(driver.path, first.path) < 0 ? driver : first),
    undefined,
  );
}

/** A group comes before what is in it. */
function compareInTree(one: readonly string[], other: readonly string[]): number {
  for (const [depth, name] of one.entries()) {
    const beside = other[depth];
    if (beside === undefined) return 1;
    const order = byNumber.compare(name, beside);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function buildTree(drivers: readonly Placed[], chosen: string | undefined): Node {
  const areOpen = drivers.length <= driversOpenMax;
  const root = newNode('', areOpen);
  const current = drivers.find(({ id }) => id === chosen);
  // The chosen driver is always listed.
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

/** Takes the first driver of each group, then the second of each, so that large groups are cut first. */
function firstOfEachFirst(drivers: readonly Placed[]): readonly Placed[] {
  if (drivers.length <= driversShownMax) return drivers;
  const groups = [...Map.groupBy(drivers, ({ path }) => JSON.stringify(path.slice(0, -1))).values()];
  for (const group of groups) group.sort(byLastName);
  const taken: Placed[] = [];
  for (let place = 0; taken.length < drivers.length; place += 1) {
    for (const group of groups) {
      const driver = group[place];
      if (driver !== undefined) taken.push(driver);
    }
  }
  return taken;
}

/** By code units: a collator would take longer than all the rest. */
function byLastName({ path: first }: Placed, { path: second }: Placed): number {
  const [one = '', other = ''] = [first.at(-1), second.at(-1)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Counts a driver in the existing nodes on its path. */
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

function showChildren({ children, unshown }: Node, state: TreeState): Html {
  const nodes = [...children.values()].sort((first, second) => byNumber.compare(first.name, second.name));
  return html`<ul>
    ${nodes.map((node) => html`<li>${showNode(node, state)}</li>`)}
    ${unshown === 0 ? '' : html`<li class="quiet">${countOf(unshown, 'more driver')}, which a search finds</li>`}
  </ul>`;
}

function showNode(node: Node, state: TreeState): Html {
  const { name, ids, children, count, unshown, isOpen } = node;
  // Several drivers may have one path; then their ids are shown.
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
