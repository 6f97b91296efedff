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
  let first = firsts.get(drivers);
  if (first === undefined) {
    first = drivers.reduce<Placed | undefined>(
      (one, other) => (one === undefined || compareInTree(other.path, one.path) < 0 ? other : one),
      undefined,
    );
    if (first !== undefined) firsts.set(drivers, first);
  }
  return first;
}

/** Of lists that are shown again and again until a driver changes. */
const firsts = new WeakMap<readonly Placed[], Placed>();
const listings = new WeakMap<readonly Placed[], Listing>();

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
  const { shown, left } = listingOf(drivers);
  // The chosen driver is always listed.
  const isAdded = current !== undefined && left.length > 0 && !shown.includes(current);
  for (const { id, path } of isAdded ? [current, ...shown] : shown) {
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
  for (const { path, count } of left) countUnshown(root, path, count);
  if (isAdded) countUnshown(root, current.path.slice(0, -1), -1);
  return root;
}

function newNode(name: string, isOpen: boolean): Node {
  return { name, ids: [], children: new Map(), count: 0, unshown: 0, isOpen };
}

function shownPath(path: readonly string[]): readonly string[] {
  return path.length > depthMax ? [...path.slice(0, depthMax - 1), path.slice(depthMax - 1).join(' / ')] : path;
}

/** The drivers that a tree lists, and how many of each group it leaves out. */
interface Listing {
  readonly shown: readonly Placed[];
  readonly left: readonly { readonly path: readonly string[]; readonly count: number }[];
}

function listingOf(drivers: readonly Placed[]): Listing {
  if (drivers.length <= driversShownMax) return { shown: drivers, left: [] };
  let listing = listings.get(drivers);
  if (listing === undefined) listings.set(drivers, (listing = cutListing(drivers)));
  return listing;
}

/** Takes the first driver of each group, then the second of each, so that large groups are cut first. */
function cutListing(drivers: readonly Placed[]): Listing {
  const groups = groupsOf(drivers);
  const shown: Placed[] = [];
  let longer = groups;
  for (let place = 0; shown.length < driversShownMax; place += 1) {
    longer = longer.filter(({ members }) => members.length > place);
    for (const group of longer.slice(0, driversShownMax - shown.length)) {
      shown.push(group.members[place] as Placed);
      group.taken += 1;
    }
  }
  const left = longer.map(({ path, members, taken }) => ({ path, count: members.length - taken }));
  return { shown, left: left.filter(({ count }) => count > 0) };
}

/** Drivers whose paths differ in their last name alone. */
interface Group {
  readonly path: readonly string[];
  /** By that name. */
  readonly members: Placed[];
  readonly within: Map<string, Group>;
  taken: number;
}

function groupsOf(drivers: readonly Placed[]): Group[] {
  const root: Group = { path: [], members: [], within: new Map(), taken: 0 };
  const groups: Group[] = [];
  for (const driver of drivers) {
    let group = root;
    for (const name of driver.path.slice(0, -1)) {
      let inner = group.within.get(name);
      if (inner === undefined) {
        inner = { path: [...group.path, name], members: [], within: new Map(), taken: 0 };
        group.within.set(name, inner);
      }
      group = inner;
    }
    if (group.members.length === 0) groups.push(group);
    group.members.push(driver);
  }
  for (const { members } of groups) members.sort(byLastName);
  return groups;
}

/** By code units: a collator would take longer than all the rest. */
function byLastName({ path: first }: Placed, { path: second }: Placed): number {
  const [one = '', other = ''] = [first.at(-1), second.at(-1)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Counts drivers that are not listed in the existing nodes of their group's path. */
function countUnshown(root: Node, path: readonly string[], count: number): void {
  let node = root;
  root.count += count;
  for (const name of shownPath(path)) {
    const child = node.children.get(name);
    if (child === undefined) break;
    node = child;
    node.count += count;
  }
  node.unshown += count;
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
