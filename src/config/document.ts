/** The config file's YAML as plain values, each with its position in the file. */
import { type Document, type Node, type Pair, type Scalar, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { parseDocument } from 'yaml';
import { substitute } from './environment.ts';
import { type Diagnostic, type Path, pathKey } from './diagnostics.ts';
import { oddSpace } from './odd-spaces.ts';
import { type Section, bareBraces, commaAlone, cutByComma, loneDash, readSyntax } from './yaml-errors.ts';

/**
 * A value as written, after substitution. A number or boolean that is spelled in its own way (`012`, `1.50`, `True`) is its source
 * text, so that nothing is changed unseen. `null`, `NULL` and `~` are `null`, but their source text where the text of a cell stands.
 * `undefined`: it cannot be read, which has been reported.
 */
export type Written = string | number | boolean | null | undefined | readonly Written[] | WrittenMap;
export interface WrittenMap {
  readonly [key: string]: Written;
}

/** The position of a value. All offsets are UTF-16 units into the file's text. */
export interface Spot {
  readonly offset: number;
  readonly keyOffset: number | undefined;
  /** Where the text itself begins, unless it was escaped, folded or substituted. */
  readonly verbatimOffset?: number;
  /** Keys in the order written. A JavaScript object would put `2024` first. */
  readonly keys?: readonly string[];
  /** The variables whose values are in the text, so it must not be shown. */
  readonly variables?: readonly string[];
  /** The text before they had their values. */
  readonly raw?: string;
  /** One of them is not set, and the command does not need it. */
  readonly unset?: true;
}

export interface ConfigDocument {
  readonly value: Written;
  readonly spots: ReadonlyMap<string, Spot>;
  readonly text: string;
  /** The whole file, then its top-level keys and its sources. */
  readonly sections: readonly Section[];
  /** The variables that the file uses, with their values. */
  readonly variables: ReadonlyMap<string, string | undefined>;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Environment {
  readonly env: NodeJS.ProcessEnv;
  readonly secrets: 'required' | 'optional' | 'unused';
}

/** Aliases of aliases can make a small file endless; no config needs this many values. */
const nodesMax = 200_000;

/** Reads the whole text, even where parts of it are wrong. Aliases and merge keys are resolved. */
export function readDocument(text: string, environment: Environment): ConfigDocument {
  const document = parseDocument(text, {
    merge: true,
    // Pretty errors quote the source, which may hold a token.
    prettyErrors: false,
    // Keys are compared by their source text below, since YAML takes `012` and `12` for the same.
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  const syntax = readSyntax(document);
  const reader = new TreeReader({ text, document, environment, brokenOffsets: syntax.brokenOffsets });
  const value = document.contents === null ? undefined : reader.read(document.contents, []);
  const odd = oddSpace(text, document);
  return {
    value,
    spots: reader.spots,
    text,
    // Around an odd space nothing has to be what it seems, as behind a tab.
    sections: odd === undefined ? syntax.sections : syntax.sections.map(({ path }) => ({ path, doubtful: true })),
    variables: reader.variables,
    diagnostics: odd === undefined ? [...syntax.diagnostics, ...reader.diagnostics] : [odd],
  };
}

interface Entry {
  readonly key: Scalar;
  readonly value: Node | null;
}

interface TreeInput {
  readonly text: string;
  readonly document: Document.Parsed;
  readonly environment: Environment;
  readonly brokenOffsets: readonly number[];
}

class TreeReader {
  readonly spots = new Map<string, Spot>();
  readonly variables = new Map<string, string | undefined>();
  readonly diagnostics: Diagnostic[] = [];
  readonly #input: TreeInput;
  /** The collections around the present node, to notice one that contains itself. */
  readonly #around = new Set<Node>();
  #nodes = 0;

  constructor(input: TreeInput) {
    this.#input = input;
  }

  /** `undefined` where the value cannot be read, which is reported. */
  read(written: Node | null, path: Path, keyOffset?: number): Written {
    this.spots.set(pathKey(path), { offset: keyOffset ?? 0, keyOffset });
    const node = this.#resolve(written, path);
    if (node === undefined) return undefined;
    const offset = start(node);
    this.spots.set(pathKey(path), { offset, keyOffset });
    this.#nodes += 1;
    if (this.#around.has(node) || this.#nodes > nodesMax) {
      if (this.#nodes <= nodesMax + 1) this.diagnostics.push({ path, at: start(written ?? node), ...endless });
      return undefined;
    }
    if (isScalar(node)) return this.#readScalar(node, path, keyOffset);
    this.#around.add(node);
    const value = isMap(node) ? this.#readMap(node, path, keyOffset) : this.#readList(node, path);
    this.#around.delete(node);
    return value;
  }

  #resolve(node: Node | null, path: Path): Node | undefined {
    if (!isAlias(node)) return node ?? undefined;
    const target = node.resolve(this.#input.document);
    if (target === undefined) this.diagnostics.push({ path, at: start(node), syntax: true, ...noAnchor });
    return target;
  }

  #readList(node: Node, path: Path): Written {
    const items = isSeq<Node>(node) ? node.items : [];
    // `- -`, where a list of texts was meant to have the text "-".
    if (typeof path.at(-1) === 'number' && items.length === 1 && isNothing(items[0])) {
      this.diagnostics.push({ path, at: start(node), ...loneDash });
      return undefined;
    }
    return items.map((item, index) => this.read(item, [...path, index]));
  }

  #readMap(node: Node, path: Path, keyOffset: number | undefined): Written {
    const offset = start(node);
    const pairs = pairsOf(node);
    const lone = isMap(node) && node.flow === true ? pairs.findIndex((pair) => pair.value === null) : -1;
    if (lone >= 0) {
      const cut = pairs[lone - 1];
      const comma = this.#input.text.indexOf(',', cut?.value?.range?.[1] ?? offset);
      const problem =
        cut === undefined
          ? { path, at: offset, ...bareBraces }
          : { path: isScalar(cut.key) ? [...path, keyText(cut.key)] : path, at: comma, ...cutByComma };
      this.diagnostics.push({ ...problem, syntax: true });
      return undefined;
    }
    const entries = this.#entries(node, path);
    this.spots.set(pathKey(path), { offset, keyOffset, keys: [...entries.keys()] });
    const value: Record<string, Written> = Object.create(null);
    for (const [key, entry] of entries) value[key] = this.read(entry.value, [...path, key], start(entry.key));
    return value;
  }

  /** A map's own entries by the source text of their keys, then those that it merges. */
  #entries(node: Node, path: Path): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    const merged: Node[] = [];
    for (const { key, value } of pairsOf(node)) {
      if (isScalar(key) && typeof key.value === 'symbol') {
        merged.push(...this.#mergedMaps(value, path));
        continue;
      }
      const name = isScalar(key) ? keyText(key) : '';
      // The empty text is one that a map may know, as it knows any other.
      const isQuoted = isScalar(key) && typeof key.value === 'string';
      if (!isScalar(key) || (name === '' && !(isQuoted && path.at(-2) === 'maps'))) {
        const problem = isQuoted
          ? { message: 'an empty key', hint: 'give it a name, or take it out' }
          : { message: 'a key that is not a text', hint: 'quote the key' };
        this.diagnostics.push({ path, at: start(key), ...problem });
        continue;
      }
      const first = entries.get(name);
      if (first === undefined) entries.set(name, { key, value });
      else this.diagnostics.push({ path: [...path, name], at: start(key), ...duplicate(name) });
    }
    for (const map of merged) {
      if (this.#around.has(map)) {
        this.diagnostics.push({ path, at: start(map), ...endless });
        continue;
      }
      this.#around.add(map);
      for (const [key, entry] of this.#entries(map, path)) if (!entries.has(key)) entries.set(key, entry);
      this.#around.delete(map);
    }
    return entries;
  }

  #mergedMaps(value: Node | null, path: Path): readonly Node[] {
    const target = this.#resolve(value, path);
    if (target === undefined) return [];
    if (isSeq<Node>(target)) return target.items.flatMap((item) => this.#mergedMaps(item, path));
    if (isMap(target)) return [target];
    this.diagnostics.push({ path, at: start(target), message: '"<<" merges a mapping, and this is something else' });
    return [];
  }

  #readScalar(node: Scalar, path: Path, keyOffset: number | undefined): Written {
    const offset = start(node);
    const { value } = node;
    const source = node.source ?? '';
    if (this.#isBroken(node)) return undefined;
    if (isNothing(node)) {
      const hint = this.#input.text[offset] === ',' ? { hint: commaAlone } : {};
      this.diagnostics.push({ path, on: 'key', ...noValue, ...hint });
      return undefined;
    }
    if (typeof value !== 'string') {
      this.spots.set(pathKey(path), { offset, keyOffset, verbatimOffset: offset });
      if (value === null) return source === 'null' || !isCell(path) ? null : source;
      const plain = typeof value === 'number' || typeof value === 'boolean';
      return plain && String(value) === source ? value : source;
    }
    return this.#readText(node as Scalar<string>, path, keyOffset);
  }

  #isBroken({ range }: Scalar): boolean {
    return (
      range !== undefined && range !== null && this.#input.brokenOffsets.some((at) => at >= range[0] && at <= range[1])
    );
  }

  #readText(node: Scalar<string>, path: Path, keyOffset: number | undefined): Written {
    const offset = start(node);
    const { env, secrets } = this.#input.environment;
    const { text, names, failures } = substitute(node.value, env);
    for (const name of names) this.variables.set(name, env[name]);
    const quoted = node.type === 'PLAIN' ? 0 : 1;
    const source = this.#input.text.slice(offset + quoted, (node.range?.[1] ?? offset) - quoted);
    const verbatim = source === node.value ? { verbatimOffset: offset + quoted } : {};
    const reported = failures.filter(({ variable }) => variable === undefined || secrets === 'required');
    for (const failure of reported) {
      const at = verbatim.verbatimOffset === undefined ? offset : verbatim.verbatimOffset + failure.offset;
      this.diagnostics.push({ path, at, syntax: true, message: failure.message, hint: failure.hint });
    }
    this.spots.set(pathKey(path), {
      offset,
      keyOffset,
      ...(text === node.value ? verbatim : {}),
      ...(names.length > 0 ? { variables: names, raw: node.value } : {}),
      ...(failures.length > 0 ? { unset: true } : {}),
    });
    if (reported.length > 0) return undefined;
    return names.length > 0 ? asIfPlain(text) : text;
  }
}

/**
 * `floor: ${FLOOR}` is a number as if it were written there, also within the quotes that it needs between braces. Only usual spellings
 * become numbers, so a text that is wanted stays the same.
 */
function asIfPlain(text: string): Written {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** Whether the text of a cell stands here, where `NULL` and `~` are what an export writes, and not nothing. */
function isCell(path: Path): boolean {
  const [key, , rows] = path.slice(path[0] === 'sources' ? 2 : 1);
  return key === 'missing' || (key === 'tests' && rows === 'rows');
}

function keyText(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? '');
}

function pairsOf(node: Node): readonly Pair<Node, Node | null>[] {
  return isMap<Node, Node | null>(node) ? node.items : [];
}

function isNothing(node: Node | undefined): boolean {
  return isScalar(node) && node.value === null && node.source === '';
}

function start(node: Node): number {
  return node.range?.[0] ?? 0;
}

const endless = {
  message: 'an alias inside the value that it stands for, or aliases that make the config endless',
  hint: 'write the value out instead of the alias',
};

const noAnchor = {
  message: 'an alias without an anchor before it',
  hint: 'set the anchor (&name) above it; a text that begins with "*" needs quotes',
};

const noValue = {
  message: 'no value',
  hint: 'write a value after the key, "" for the empty text, or remove the line',
};

function duplicate(key: string): { message: string; hint: string } {
  return { message: `the key "${key}" is written twice`, hint: 'keep one of the two' };
}
