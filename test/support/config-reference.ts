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
    renderTable('`ledger`, written out', formOf(root.properties?.['ledger'])),
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

/** A key that several kinds have, with the same meaning in each. */
interface SharedKey {
  readonly theme: string;
  readonly types: readonly string[];
  readonly cells: readonly string[];
}

/** Keys that several kinds have stand once, by theme and with the kinds that have them; behind them a section for each kind. */
function renderKinds(all: readonly KindKeys[]): string[] {
  // One kind may have two names.
  const unique = all.filter(({ type }) => all.find((other) => kinds[other.type] === kinds[type])?.type === type);
  const shared = new Map<string, SharedKey>();
  for (const kind of unique) {
    for (const key of kind.keys) {
      const cells = cellsOf(kind.node, key);
      const types = unique
        .filter(({ node, keys }) => keys.includes(key) && cellsOf(node, key).join() === cells.join())
        .map(({ type }) => type);
      if (types.length > 1) shared.set(cells.join(), { theme: themeOf(types), types, cells });
    }
  }
  const sections = [...Map.groupBy(shared.values(), ({ theme }) => theme)].map(([theme, keys]) =>
    renderTheme(theme, keys),
  );
  return [...sections, ...unique.map((kind) => renderKind(kind, all, [...shared.values()]))];
}

function themeOf(types: readonly string[]): string {
  if (types.includes('parquet')) return 'Files';
  if (types.some((type) => type === 'csv' || type === 'json')) return 'Tables and lists';
  return types.includes('postgres') || types.includes('sqlite') ? 'Databases' : 'Addresses';
}

function renderTheme(theme: string, keys: readonly SharedKey[]): string {
  const rows = keys.map(({ types, cells: [key = '', ...cells] }) => [key, types.map(code).join(' '), ...cells]);
  const head = [
    ['key', 'of', 'written as', 'default', 'what it is'],
    ['---', '---', '---', '---', '---'],
  ];
  return [`### ${theme}`, '', ...[...head, ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`)].join(
    '\n',
  );
}

function renderKind({ type, node, keys }: KindKeys, all: readonly KindKeys[], shared: readonly SharedKey[]): string {
  const names = all.filter((other) => kinds[other.type] === kinds[type]);
  const title = names.map((name) => `\`type: ${name.type}\``).join(', ');
  const of = shared.filter(({ types }) => types.includes(type));
  const own = keys.filter((key) => !of.some(({ cells }) => cells.join() === cellsOf(node, key).join()));
  const themes = [...new Set(of.map(({ theme }) => theme))];
  const links = themes.map((theme) => `[${theme.toLowerCase()}](#${anchorOf(theme)})`);
  const note = links.length === 0 ? [] : [`Beside the keys of ${links.join(' and ')} that name it:`, ''];
  if (own.length === 0) return `### ${title}\n\nThe keys of ${links.join(' and ')} that name it.`;
  const [heading = '', blank = '', ...table] = renderTable(title, node, (key) => own.includes(key)).split('\n');
  return [heading, blank, ...note, ...table].join('\n');
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
