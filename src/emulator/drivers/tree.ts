/** The drivers as the service displays them: nested by path. */
import type { Driver } from '../../contract/driver-push.ts';

/**
 * Writes `{tree: [node]}` as pieces of JSON, with `node = {name, drivers: [id], children: [node]}`. A node stands for one
 * path, and `drivers` are those with exactly that path: none if a parent is not a driver, several if paths are equal.
 *
 * The text is written from the sorted paths without building a tree, so a path may have any depth. Siblings are sorted by
 * name.
 */
export function* writeTree(drivers: Iterable<Driver>): Generator<string, void, void> {
  const closing = ']}';
  let open: readonly string[] = [];
  yield '{"tree":[';
  for (const { path, ids } of groupByPath(drivers)) {
    const shared = sharedLength(open, path);
    yield closing.repeat(open.length - shared);
    if (open.length > shared) yield ',';
    for (let depth = shared; depth < path.length; depth++) {
      // A path sorts before its extensions, so the last node of this loop is new, and these are all its drivers.
      const own = depth === path.length - 1 ? ids : [];
      yield `{"name":${JSON.stringify(path[depth])},"drivers":${JSON.stringify(own)},"children":[`;
    }
    open = path;
  }
  yield closing.repeat(open.length + 1);
}

interface Group {
  readonly path: readonly string[];
  readonly ids: string[];
}

/** Sorted by path; drivers with equal paths keep their order. */
function groupByPath(drivers: Iterable<Driver>): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const { id, path } of drivers) {
    const key = JSON.stringify(path);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { path, ids: [id] });
    else group.ids.push(id);
  }
  return [...groups.values()].sort((first, second) => comparePaths(first.path, second.path));
}

function sharedLength(first: readonly string[], second: readonly string[]): number {
  let length = 0;
  while (length < first.length && length < second.length && first[length] === second[length]) length += 1;
  return length;
}

function comparePaths(first: readonly string[], second: readonly string[]): number {
  const shared = sharedLength(first, second);
  const [one, other] = [first[shared], second[shared]];
  if (one === undefined || other === undefined) return first.length - second.length;
  return one < other ? -1 : 1;
}
