/** Which columns a Parquet file has, and where each is in its schema. */
import type { SchemaElement, SchemaTree } from 'hyparquet';
import { AgentError } from '../../core/errors.ts';
import { trimWhiteSpace } from '../../core/text.ts';
import type { PartFile } from '../files/part-file.ts';
import { columnText } from './parquet-column.ts';
import type { ColumnText } from './parquet-column.ts';

export interface Column {
  /** The names of the structs that it is in, and its own, joined by dots. */
  readonly name: string;
  /** Its place among the columns that are stored: a map is two of them. */
  readonly chunk: number;
  /** How its values become text; `undefined` for one that holds no single values, which is not read. */
  readonly text: ColumnText | undefined;
  /** The name of its type. */
  readonly type: string;
  /** From the root of the schema to the column, as the pages are decoded. */
  readonly schemaPath: readonly SchemaTree[];
}

/** @throws AgentError `part.unreadable` where two columns have one name, or all are lists and maps */
export function parseColumns(file: PartFile, root: SchemaTree): readonly Column[] {
  const columns: Column[] = [];
  let chunk = 0;
  const walk = (tree: SchemaTree, above: readonly SchemaTree[]): void => {
    const schemaPath = [...above, { ...tree, element: bare(tree.element) }];
    // A list is one column, however deep it goes.
    if (tree.children.length > 0 && !isMany(tree.element)) {
      for (const child of tree.children) walk(child, schemaPath);
      return;
    }
    columns.push(parseColumn(tree, chunk, schemaPath));
    chunk += countChunks(tree);
  };
  for (const child of root.children) walk(child, [{ ...root, element: bare(root.element) }]);
  checkColumns(file, columns);
  return columns;
}

/** How many columns are stored for it: a map has two, a struct without fields none. */
function countChunks({ element, children }: SchemaTree): number {
  return children.reduce((sum, child) => sum + countChunks(child), element.type === undefined ? 0 : 1);
}

const manyTypes: ReadonlySet<string | undefined> = new Set(['LIST', 'MAP', 'MAP_KEY_VALUE', 'VARIANT']);

function isMany(element: SchemaElement): boolean {
  return (
    element.repetition_type === 'REPEATED' ||
    manyTypes.has(element.converted_type) ||
    manyTypes.has(element.logical_type?.type)
  );
}

function parseColumn({ element, path }: SchemaTree, chunk: number, schemaPath: readonly SchemaTree[]): Column {
  const name = trimWhiteSpace(path.join('.'));
  const stored = isMany(element) ? 'LIST' : element.type;
  const type = element.logical_type?.type ?? element.converted_type ?? stored ?? 'an empty struct';
  return { name, chunk, type, schemaPath, text: isMany(element) ? undefined : columnText(element) };
}

function checkColumns(file: PartFile, columns: readonly Column[]): void {
  const places = new Map<string, number>();
  for (const [at, { name }] of columns.entries()) {
    const before = places.get(name);
    if (before !== undefined) {
      throw new AgentError(
        'part.unreadable',
        `${file.name}: columns ${before + 1} and ${at + 1} are both called ${name}`,
        {
          hint: 'give every column of the export its own name',
        },
      );
    }
    places.set(name, at);
  }
  if (columns.length === 0) return;
  if (columns.some(({ text }) => text !== undefined)) return;
  const types = columns.map(({ name, type }) => `${name} (${type})`).join(', ');
  throw new AgentError('part.unreadable', `${file.name}: no column holds single texts or numbers: ${types}`, {
    hint: 'read the file by type: duckdb, with a query that makes some of them',
  });
}

/**
 * The library makes numbers of decimals and Dates of moments. A leaf without its types is left as it is stored; one that
 * is called UTF8 comes through `stringFromBytes`, once for each text of a dictionary.
 */
function bare(element: SchemaElement): SchemaElement {
  const { type, type_length: length, repetition_type: repetition, name, num_children: children } = element;
  return {
    name,
    ...(type && { type }),
    ...(length !== undefined && { type_length: length }),
    ...(repetition && { repetition_type: repetition }),
    ...(children !== undefined && { num_children: children }),
    ...((type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') && { converted_type: 'UTF8' as const }),
  };
}
