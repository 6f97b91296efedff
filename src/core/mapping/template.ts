/** Templates over a row's columns: `revenue/{region}/{product|slug}`. */
import { type Extract, parseExtract } from './pattern.ts';
import { trimWhiteSpace } from '../text.ts';

/** A parsed template. Literal pieces are never adjacent. */
export interface Template {
  /** As written. */
  readonly text: string;
  readonly pieces: readonly (string | Placeholder)[];
}

export interface Placeholder {
  readonly column: string;
  readonly filters: readonly Filter[];
}

export type Filter =
  | { readonly name: 'trim' | 'lower' | 'upper' | 'slug' }
  | { readonly name: 'map'; readonly map: string }
  | { readonly name: 'match'; readonly pattern: string }
  | { readonly name: 'default'; readonly text: string };

/** The column that a template is, where it is one and nothing else. */
export function loneColumn({ pieces }: Template): string | undefined {
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'object' && only.filters.length === 0 ? only.column : undefined;
}

/** The placeholder that a template is. */
export function onlyPlaceholder({ pieces }: Template): Placeholder | undefined {
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'object' ? only : undefined;
}

export interface TemplateProblem {
  readonly problem: string;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset: number;
}

/** Keys without white space around them: what is looked up has none either, so that a key with some would never be found. */
export type Maps = Readonly<Record<string, Readonly<Record<string, string>>>>;

const filterNames = 'trim, lower, upper, slug, map:NAME, match:PATTERN, default:TEXT';

/** Parses `{column|filter|filter}`; `{{` and `}}` are braces. */
export function parseTemplate(text: string): { readonly template: Template } | TemplateProblem {
  const pieces: (string | Placeholder)[] = [];
  let literal = '';
  for (let at = 0; at < text.length;) {
    const char = text[at];
    if (text.startsWith('{{', at) || text.startsWith('}}', at)) {
      literal += char;
      at += 2;
    } else if (char === '}') {
      return { problem: 'a "}" without its "{"; write "}}" for a brace', offset: at };
    } else if (char === '{') {
      const inner = splitPlaceholder(text, at + 1);
      if (inner === undefined) return { problem: 'a "{" without its "}"; write "{{" for a brace', offset: at };
      const { pieces: written, end } = inner;
      const placeholder = parsePlaceholder(written);
      if (typeof placeholder === 'string') return { problem: placeholder, offset: at };
      if (literal !== '') pieces.push(literal);
      literal = '';
      pieces.push(placeholder);
      at = end + 1;
    } else {
      literal += char;
      at += 1;
    }
  }
  if (literal !== '') pieces.push(literal);
  return { template: { text, pieces } };
}

/**
 * The column and the filters of a placeholder, which end at the next `|` or `}`. A pattern ends there only outside of its own
 * brackets: `{file|match:\d{4}|default:none}`.
 */
function splitPlaceholder(
  text: string,
  from: number,
): { readonly pieces: readonly string[]; readonly end: number } | undefined {
  const pieces: string[] = [];
  for (let start = from; ;) {
    const isPattern = pieces.length > 0 && /^\s*match:/.test(text.slice(start));
    const end = isPattern ? endOfPattern(text, start) : start + text.slice(start).search(/[|}]|$/);
    if (end >= text.length) return undefined;
    pieces.push(text.slice(start, end));
    if (text[end] === '}') return { pieces, end };
    start = end + 1;
  }
}

/** Where a pattern ends: the first `|` or `}` that is no part of it. */
function endOfPattern(text: string, from: number): number {
  const open: string[] = [];
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    const isInClass = open.at(-1) === ']';
    if (char === '\\') at++;
    else if (char === open.at(-1)) open.pop();
    else if (isInClass) continue;
    else if (open.length === 0 && (char === '|' || char === '}')) return at;
    else if (Object.hasOwn(closing, char)) open.push(closing[char] as string);
  }
  return text.length;
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

function parsePlaceholder([column = '', ...filters]: readonly string[]): Placeholder | string {
  if (column.trim() === '') return 'a placeholder names no column, such as {amount}';
  if (column.includes('{')) return 'a "{" inside a placeholder';
  const parsed: Filter[] = [];
  for (const filter of filters) {
    const colon = filter.indexOf(':');
    const name = (colon < 0 ? filter : filter.slice(0, colon)).trim();
    const argument = colon < 0 ? undefined : filter.slice(colon + 1);
    if (name === 'map' && argument !== undefined) parsed.push({ name, map: argument.trim() });
    else if (name === 'match' && argument !== undefined) {
      const extract = parseExtract(argument);
      if ('problem' in extract)
        return `bad pattern "${argument}": ${[extract.problem, extract.hint ?? []].flat().join('; ')}`;
      parsed.push({ name, pattern: argument });
    } else if (name === 'default' && argument !== undefined) parsed.push({ name, text: argument });
    else if (isPlainFilter(name) && argument === undefined) parsed.push({ name });
    else return `unknown filter "${filter}"; there are ${filterNames}${/^[a-z]+$/.test(name) ? '' : nameWithBar}`;
  }
  return { column: column.trim(), filters: parsed };
}

/** No filter looks like this, so the "|" may be one of a header. */
const nameWithBar = '; a column whose name has a "|" is named by its place, such as {#1}';

function isPlainFilter(name: string): name is 'trim' | 'lower' | 'upper' | 'slug' {
  return name === 'trim' || name === 'lower' || name === 'upper' || name === 'slug';
}

/** The columns that a template needs. */
export function templateColumns(template: Template): readonly string[] {
  return template.pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.column]));
}

/** The text of a template without placeholders; `undefined` for one with placeholders, or an empty one. */
export function literalText({ pieces }: Template): string | undefined {
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'string' ? only : undefined;
}

/** The maps that a template names. */
export function templateMaps(template: Template): readonly string[] {
  return template.pieces.flatMap((piece) =>
    typeof piece === 'string' ? [] : piece.filters.flatMap((filter) => (filter.name === 'map' ? [filter.map] : [])),
  );
}

/** The column of a placeholder that is empty where it must not be. */
export interface EmptyPlaceholder {
  readonly column: string;
}

/**
 * Renders `time` and `value`: placeholders are not trimmed and may be empty.
 * @param textOf what stands for a placeholder, by what the filters made of its field; default: that
 */
export function renderText(
  template: Template,
  field: (column: string) => string,
  maps: Maps,
  textOf?: (placeholder: Placeholder, field: string, rendered: string) => string,
): string {
  let text = '';
  for (const piece of template.pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const given = field(piece.column);
    const rendered = applyFilters(piece, given, maps);
    text += textOf === undefined ? rendered : textOf(piece, given, rendered);
  }
  return text;
}

/** Renders `id` and `path`: placeholders are trimmed, and the first empty one is returned instead of a text. */
export function renderName(
  template: Template,
  field: (column: string) => string,
  maps: Maps,
): string | EmptyPlaceholder {
  let text = '';
  for (const piece of template.pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const rendered = applyFilters(piece, field(piece.column).trim(), maps).trim();
    if (rendered === '') return { column: piece.column };
    text += rendered;
  }
  return text;
}

/** Whether what filters make of a field is a text of it still, and none that a map or a default put in its place. */
export function isTextOfField({ column, filters }: Placeholder, field: string, maps: Maps): boolean {
  return filters.every(({ name }, at) => {
    if (name === 'map') return false;
    return name !== 'default' || applyFilters({ column, filters: filters.slice(0, at) }, field, maps).trim() !== '';
  });
}

function applyFilters(placeholder: Placeholder, field: string, maps: Maps): string {
  let text = field;
  for (const filter of placeholder.filters) {
    switch (filter.name) {
      case 'trim':
        text = text.trim();
        break;
      case 'lower':
        text = text.toLowerCase();
        break;
      case 'upper':
        text = text.toUpperCase();
        break;
      case 'slug':
        text = slug(text);
        break;
      case 'map':
        text = lookUp(maps, filter.map, text);
        break;
      case 'match':
        text = extractOf(filter).take(text) ?? '';
        break;
      case 'default':
        text = text.trim() === '' ? filter.text : text;
        break;
    }
  }
  return text;
}

/** A filter crosses to other threads as text: its pattern is compiled where it is used, once. */
const extracts = new WeakMap<Filter, Extract>();

function extractOf(filter: Filter & { readonly name: 'match' }): Extract {
  const known = extracts.get(filter);
  if (known !== undefined) return known;
  const extract = parseExtract(filter.pattern);
  if ('problem' in extract) throw new Error(`a pattern that was parsed before: ${extract.problem}`);
  extracts.set(filter, extract);
  return extract;
}

function lookUp(maps: Maps, name: string, text: string): string {
  const map = maps[name];
  const key = trimWhiteSpace(text);
  return map !== undefined && Object.hasOwn(map, key) ? (map[key] as string) : '';
}

/** `Sign Ups (Café)` becomes `sign-ups-cafe`: lower case, no Latin accents, one `-` for anything between letters and digits. */
export function slug(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}
