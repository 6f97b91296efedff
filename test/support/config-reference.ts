/** The reference part of docs/CONFIG.md, made of the schema, so that the two cannot disagree. */
import { kinds } from '../../src/sources/index.ts';
import { jsonSchema, kindShape } from '../../src/config/json-schema.ts';

/** As much of JSON Schema as ours uses. */
interface Node {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | false;
  readonly items?: Node;
}

/** Markdown: one table per section of the config. */
export function renderReference(): string {
  const root = jsonSchema() as Node;
  const sources = root.properties?.['sources']?.additionalProperties || {};
  const types = Object.keys(kinds);
  const kindKeys = types.map((type) => Object.keys(kindShape(type)));
  const [source = {}] = sources.anyOf ?? [];
  const driver = source.properties?.['drivers']?.items ?? {};
  const common = (key: string): boolean => !kindKeys.some((keys) => keys.includes(key));
  return [
    renderTable('The top level', root),
    renderTable('`destination`', formOf(root.properties?.['destination'])),
    renderTable('`guard`', formOf(root.properties?.['guard'])),
    renderTable('Entries of `notify`', root.properties?.['notify']?.items ?? {}),
    renderTable('`status`, written out', formOf(root.properties?.['status'])),
    renderTable('Every source', { ...source, properties: { ...source.properties, type: typeOf(types) } }, common),
    renderTable('`unpivot`', formOf(source.properties?.['unpivot'])),
    ...renderKinds(
      types.map((type, index) => ({ type, node: sources.anyOf?.[index] ?? {}, keys: kindKeys[index] ?? [] })),
    ),
    renderTable('Entries of `drivers`', driver),
    renderTable('`time`, written out', formOf(driver.properties?.['time'])),
    renderTable('`value`, written out', formOf(driver.properties?.['value'])),
  ].join('\n\n');
}

interface KindKeys {
  readonly type: string;
  readonly node: Node;
  /** Of the kind alone, and not of every source. */
  readonly keys: readonly string[];
}

/** Keys that several kinds have stand once, in a section of their own; behind them a section for each kind. */
function renderKinds(all: readonly KindKeys[]): string[] {
  // One kind may have two names.
  const unique = all.filter(({ type }) => all.find((other) => kinds[other.type] === kinds[type])?.type === type);
  const shared = new Map<string, { readonly types: readonly KindKeys[]; readonly keys: Set<string> }>();
  for (const kind of unique) {
    for (const key of kind.keys) {
      const row = cellsOf(kind.node, key).join();
      const types = unique.filter(({ node, keys }) => keys.includes(key) && cellsOf(node, key).join() === row);
      if (types.length < 2) continue;
      const group = types.map(({ type }) => type).join();
      const known = shared.get(group) ?? { types, keys: new Set() };
      known.keys.add(key);
      shared.set(group, known);
    }
  }
  const groups = [...shared.values()].map((group) => ({ ...group, title: `Keys of ${listed(group.types)}` }));
  const sections = groups.map(({ title, types, keys }) =>
    renderTable(title, types[0]?.node ?? {}, (key) => keys.has(key)),
  );
  return [...sections, ...unique.map((kind) => renderKind(kind, all, groups))];
}

function renderKind(
  { type, node, keys }: KindKeys,
  all: readonly KindKeys[],
  groups: readonly {
    readonly title: string;
    readonly types: readonly KindKeys[];
    readonly keys: ReadonlySet<string>;
  }[],
): string {
  const names = all.filter((other) => kinds[other.type] === kinds[type]);
  const title = names.map((name) => `\`type: ${name.type}\``).join(', ');
  const of = groups.filter(({ types }) => types.some((one) => one.type === type));
  const own = keys.filter((key) => !of.some((group) => group.keys.has(key)));
  const links = of.map((group) => `[${group.title.replaceAll('`', '').toLowerCase()}](#${anchorOf(group.title)})`);
  const note =
    links.length === 0
      ? []
      : [`It has the ${links.join(' and the ')}${own.length === 0 ? ', and none of its own' : ''}.`, ''];
  if (own.length === 0) return [`### ${title}`, '', ...note].join('\n').trimEnd();
  const [heading = '', blank = '', ...table] = renderTable(title, node, (key) => own.includes(key)).split('\n');
  return [heading, blank, ...note, ...table].join('\n');
}

function listed(types: readonly KindKeys[]): string {
  const names = types.map(({ type }) => `\`${type}\``);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** As GitHub makes it of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The schema has one form of a source per kind, each with its own type. */
function typeOf(types: readonly string[]): Node {
  return { enum: types, description: 'The kind of source.' };
}

/** Of the forms of a value, the one with keys. */
function formOf(node: Node = {}): Node {
  return node.anyOf?.find((form) => form.properties !== undefined) ?? node;
}

function renderTable(title: string, node: Node, isShown: (key: string) => boolean = () => true): string {
  const rows = Object.keys(node.properties ?? {})
    .filter((key) => isShown(key))
    .map((key) => cellsOf(node, key));
  const lines = [['key', 'written as', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows];
  return [`### ${title}`, '', ...lines.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`)].join('\n');
}

function cellsOf(node: Node, key: string): readonly string[] {
  const field = node.properties?.[key] ?? {};
  const isRequired = node.required?.includes(key) === true;
  return [code(key), renderForm(field), isRequired ? 'required' : renderDefault(field), field.description ?? ''];
}

function renderDefault({ default: value }: Node): string {
  return value === undefined
    ? ''
    : code(typeof value === 'string' && value.trim() !== '' ? value : JSON.stringify(value));
}

function renderForm(node: Node): string {
  const values = node.enum ?? node.examples ?? (node.const === undefined ? undefined : [node.const]);
  if (values !== undefined) {
    const shown = values.map((value) => code(typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
    return node.anyOf?.some((form) => form.properties !== undefined) === true ? `${shown}, or a mapping` : shown;
  }
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(renderForm))].join(', or ');
  if (node.items !== undefined) return 'a list';
  const [type = 'string'] = Array.isArray(node.type) ? node.type : [node.type];
  return typeWords[type] ?? type;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: '`true`, `false`',
  integer: 'a whole number',
  object: 'a mapping',
};

function code(text: string): string {
  return `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
