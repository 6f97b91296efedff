/** A config as it is proposed: keys and values, with comments beside and above them. */
import { Document, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

export interface Line {
  readonly key: string;
  readonly value: Value;
  /** Behind the value. */
  readonly beside?: string | undefined;
  /** Lines above the key. */
  readonly above?: readonly string[] | undefined;
}

export type Value =
  | { readonly plain: string | number | boolean }
  /** A list or a mapping on one line. */
  | { readonly flow: object }
  | { readonly block: readonly Line[] }
  | { readonly list: readonly (readonly Line[])[] };

export const plain = (value: string | number | boolean): Value => ({ plain: value });
export const flow = (value: object): Value => ({ flow: value });

/** The YAML text of these lines. @param heading the comment at its top */
export function writeLines(lines: readonly Line[], heading: readonly string[]): string {
  const document = new Document();
  document.contents = mapOf(lines) as never;
  document.commentBefore = comment(heading);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function mapOf(lines: readonly Line[]): YAMLMap {
  const map = new YAMLMap();
  for (const { key, value, beside, above = [] } of lines) {
    const name = new Scalar(key);
    const node = nodeOf(value);
    if (above.length > 0) name.commentBefore = comment(above);
    // Beside a block there is no room: its comment stands above it.
    if (beside !== undefined && node instanceof YAMLMap && node.flow !== true) {
      name.commentBefore = comment([...above, beside]);
    } else if (beside !== undefined) node.comment = comment([beside]);
    map.items.push(new Pair(name, node));
  }
  return map;
}

function nodeOf(value: Value): Node {
  if ('plain' in value) return new Scalar(verbatim(value.plain));
  if ('block' in value) return mapOf(value.block);
  if ('list' in value) {
    const list = new YAMLSeq();
    for (const item of value.list) list.items.push(mapOf(item));
    return list;
  }
  return new Document().createNode(value.flow, (_key, inner: unknown) => verbatim(inner), { flow: true });
}

/** No text of a file begins a variable. */
function verbatim(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('${', () => '$${') : value;
}

/** A comment is one line for each text: texts of data cannot begin another one. */
function comment(texts: readonly string[]): string {
  return texts.map((text) => ` ${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`).join('\n');
}
