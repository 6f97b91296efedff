/** Characters that look like a space, or like nothing, in places where YAML needs a space: they come with texts from web pages and word processors. */
import { type Document, isScalar, visit } from 'yaml';
import { count } from '../core/text.ts';
import type { Diagnostic } from './diagnostics.ts';

const names: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u1680': 'an ogham space mark',
  '\u2007': 'a figure space',
  '\u200b': 'a zero width space',
  '\u202f': 'a narrow no-break space',
  '\u205f': 'a mathematical space',
  '\u2060': 'a word joiner',
  '\u3000': 'an ideographic space',
  '\ufeff': 'a byte-order mark',
};

const withoutWidth = new Set(['\u200b', '\u2060', '\ufeff']);

const odd = '[\\u00a0\\u1680\\u2000-\\u200b\\u202f\\u205f\\u2060\\u3000\\ufeff]';

/** In a text without quotes: at its ends, where a line of it begins, and behind a ":" or a "-" that it begins with. */
const misplaced = new RegExp(`(?<=^-?|:|\\n[ \\t]*)${odd}|${odd}(?=\\r?\\n|$)`, 'g');

/** The first of them, where there is one. Nothing in the file needs to stand where it seems to then. */
export function oddSpace(text: string, document: Document.Parsed): Diagnostic | undefined {
  const found = new Set<number>();
  const isOdd = new RegExp(odd);
  for (const { pos } of document.errors) if (isOdd.test(text[pos[0]] ?? '')) found.add(pos[0]);
  visit(document, (_key, node) => {
    if (!isScalar(node) || node.type !== 'PLAIN' || !node.range) return;
    const [start, end] = node.range;
    for (const { index } of text.slice(start, end).matchAll(misplaced)) found.add(start + index);
  });
  const [first, ...others] = [...found].toSorted((a, b) => a - b);
  if (first === undefined) return undefined;
  const char = text[first] ?? '';
  const code = char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const more = others.length === 0 ? '' : `; such characters stand in ${count(others.length, 'more place')}`;
  const cure = withoutWidth.has(char) ? 'remove it' : 'replace it by a space';
  return {
    path: [],
    at: first,
    syntax: true,
    message: `${names[char] ?? 'a space of another width'} (U+${code}) stands where YAML knows spaces alone`,
    hint: `${cure}, or put a text that has it in quotes${more}`,
  };
}
