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
    renderTable('Every source', { ...source, properties: { ...source.properties, type: typeOf(types) } }, common),
    renderTable('`unpivot`', formOf(source.properties?.['unpivot'])),
    ...types.flatMap((type, index) => {
      // One kind may have two names.
      const names = types.filter((other) => kinds[other] === kinds[type]);
      const title = names.map((name) => `\`type: ${name}\``).join(', ');
      const isOwn = (key: string): boolean => kindKeys[index]?.includes(key) === true;
      return names[0] === type ? [renderTable(title, sources.anyOf?.[index] ?? {}, isOwn)] : [];
    }),
    renderTable('Entries of `drivers`', driver),
    renderTable('`time`, written out', formOf(driver.properties?.['time'])),
    renderTable('`value`, written out', formOf(driver.properties?.['value'])),
  ].join('\n\n');
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
  const rows = Object.entries(node.properties ?? {})
    .filter(([key]) => isShown(key))
    .map(([key, field]) => {
      const isRequired = node.required?.includes(key) === true;
      return [code(key), renderForm(field), isRequired ? 'required' : renderDefault(field), field.description ?? ''];
    });
  const lines = [['key', 'written as', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows];
  return [`### ${title}`, '', ...lines.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`)].join('\n');
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
