/** The YAML parser's errors in words that help, and the parts of the file that they leave in doubt. */
import { type Document, type Node, type YAMLError, isMap, isScalar } from 'yaml';
import type { Diagnostic, Path } from './diagnostics.ts';

/** The whole file, a top-level key, or one source. */
export interface Section {
  readonly path: Path;
  /** Its structure is in doubt, so what seems missing or unknown in it may only be misread. */
  readonly doubtful: boolean;
}

export interface Syntax {
  readonly diagnostics: readonly Diagnostic[];
  readonly sections: readonly Section[];
  /** Offsets of single values in error. What the parser made of them is not to be used. */
  readonly brokenOffsets: readonly number[];
}

/** Errors of a single value, which leave the structure around it certain. */
const valueErrors = new Set(['BAD_SCALAR_START', 'BAD_DQ_ESCAPE', 'BAD_ALIAS', 'TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE']);

const words: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  BAD_SCALAR_START: {
    message: 'a text that begins with a character of YAML',
    hint: 'put the text in quotes',
  },
  BAD_DQ_ESCAPE: {
    message: 'an unknown escape in double quotes',
    hint: 'write two backslashes, or use single quotes',
  },
  BAD_ALIAS: { message: 'an anchor or alias without a name', hint: 'put a text that begins with "&" or "*" in quotes' },
  TAG_RESOLVE_FAILED: { message: 'an unknown YAML tag', hint: 'put a text that begins with "!" in quotes' },
  BAD_DIRECTIVE: { message: 'an unknown YAML directive', hint: 'put a text that begins with "%" in quotes' },
  TAB_AS_INDENT: { message: 'a tab as indentation', hint: 'indent with spaces' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second "key: value" where a value stands',
    hint: 'indent both lines alike, or put a text that has ": " in quotes',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key that does not end on its line',
    hint: 'end a key with ":" and indent its lines alike',
  },
  MULTIPLE_DOCS: { message: 'a second YAML document', hint: 'remove "---" and what follows' },
  UNEXPECTED_TOKEN: {
    message: 'YAML does not expect this here',
    hint: 'quote texts with braces, brackets or quotes in them, such as "{column}", and "${NAME}" between { } or [ ]',
  },
};

/** A "-" that begins a list where none can begin: mostly a text for "no value". */
export const loneDash = {
  message: 'a "-" begins a list here',
  hint: 'put "-" in quotes where it is a text; the items of a list with "-" stand in lines below its key',
};

/** A template without its quotes. */
export const bareBraces = {
  message: 'braces without quotes are a YAML mapping',
  hint: 'quote a text that has braces, such as "{column}"',
};

/** Such as `{ maxDeletes: 10,5% }`. */
export const cutByComma = {
  message: 'between braces a comma ends the value, and no key follows here',
  hint: 'write a number with a point, such as 10.5%, and put a text that has a comma in quotes',
};

/** Such as `{ decimal: , }`. */
export const commaAlone = 'write a value after the key; where it is a comma, put it in quotes: ","';

const secondComma = {
  message: 'between braces or brackets a comma ends a value, and here is none',
  hint: 'take one comma out; where a comma is the value, put it in quotes: ","',
};

/** The parser's own messages for these quote nothing of the file, which may hold a token. */
const plainlyWorded = new Set(['MISSING_CHAR', 'BAD_INDENT']);

/** The parser's errors and warnings, and the file's sections. */
export function readSyntax(document: Document.Parsed): Syntax {
  const errors: readonly YAMLError[] = [...document.errors, ...document.warnings];
  const sections = findSections(document.contents);
  const doubtful = new Set<number>();
  const diagnostics: Diagnostic[] = [];
  // Behind a tab the parser finds no indentation right.
  const tabAt = errors.find(({ code }) => code === 'TAB_AS_INDENT')?.pos[0] ?? Infinity;
  const dashes = new Set(errors.filter(isLoneDash).map(({ pos }) => pos[0]));
  for (const error of errors) {
    const { code, message, pos } = error;
    // What else the parser says of such a dash is no help.
    if (dashes.has(pos[0]) && !isLoneDash(error)) continue;
    // An error at the very start of a section was noticed there, but belongs to the section before.
    const last = code === 'MULTILINE_IMPLICIT_KEY' ? pos[0] : pos[0] - 1;
    const index = sections.findLastIndex(({ offset }) => offset <= last);
    const isStructural = !valueErrors.has(code);
    // Further errors in a section mostly follow from its first one.
    const isConsequence = doubtful.has(index) || (pos[0] > tabAt && code !== 'TAB_AS_INDENT');
    if (isStructural) doubtful.add(index);
    if (isStructural && isConsequence) continue;
    const own = plainlyWorded.has(code) ? `${message.charAt(0).toLowerCase()}${message.slice(1)}` : 'not YAML';
    diagnostics.push({
      path: sections[index]?.path ?? [],
      at: pos[0],
      syntax: true,
      ...(dashes.has(pos[0]) ? loneDash : isSecondComma(error) ? secondComma : (words[code] ?? { message: own })),
    });
  }
  const root = { path: [], doubtful: doubtful.size > 0 };
  return {
    diagnostics,
    brokenOffsets: errors.filter(({ code }) => valueErrors.has(code)).map(({ pos }) => pos[0]),
    sections: [
      root,
      ...sections.map(({ path, offset }, index) => ({ path, doubtful: doubtful.has(index) || offset > tabAt })),
    ],
  };
}

function isLoneDash({ code, message }: YAMLError): boolean {
  return code === 'BLOCK_IN_FLOW' || (code === 'UNEXPECTED_TOKEN' && message.startsWith('Unexpected block-seq-ind'));
}

function isSecondComma({ code, message }: YAMLError): boolean {
  return code === 'UNEXPECTED_TOKEN' && message.startsWith('Unexpected , in flow');
}

function findSections(contents: Node | null): { readonly offset: number; readonly path: Path }[] {
  return keysOf(contents, []).flatMap((section) => [
    section,
    ...(section.path[0] === 'sources' ? keysOf(section.value, section.path) : []),
  ]);
}

function keysOf(node: unknown, path: Path): { offset: number; path: Path; value: unknown }[] {
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) =>
    isScalar(key) ? [{ offset: key.range?.[0] ?? 0, path: [...path, key.source ?? String(key.value)], value }] : [],
  );
}
