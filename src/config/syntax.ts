/** What the YAML parser complains of, in words that help, and which parts of the file it leaves in doubt. */
import { type Document, type Node, type YAMLError, isMap, isScalar } from 'yaml';
import type { Finding, Path } from './finding.ts';

/** The whole file, a top-level key, or one source. */
export interface Section {
  readonly path: Path;
  /** Its structure is in doubt: what is missing or unknown in it may only be misread. */
  readonly doubtful: boolean;
}

export interface Syntax {
  readonly findings: readonly Finding[];
  readonly sections: readonly Section[];
  /** Where single values are in error; what the parser made of them is no value. */
  readonly brokenOffsets: readonly number[];
}

/** Errors of a single value: the structure around it is as written. */
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

/** The parser's own messages of these quote nothing of the file, where a token may stand. */
const plainlyWorded = new Set(['MISSING_CHAR', 'BAD_INDENT']);

/** The parser's errors and warnings, and the file's sections. */
export function readSyntax(document: Document.Parsed): Syntax {
  const errors: readonly YAMLError[] = [...document.errors, ...document.warnings];
  const sections = findSections(document.contents);
  const doubtful = new Set<number>();
  const findings: Finding[] = [];
  for (const { code, message, pos } of errors) {
    // An error at the very start of a section was only noticed there, and belongs to the one before.
    const last = code === 'MULTILINE_IMPLICIT_KEY' ? pos[0] : pos[0] - 1;
    const index = sections.findLastIndex(({ offset }) => offset <= last);
    const isStructural = !valueErrors.has(code);
    // What follows the first of these in a section mostly follows from it.
    if (isStructural && doubtful.has(index)) continue;
    if (isStructural) doubtful.add(index);
    const own = plainlyWorded.has(code) ? `${message.charAt(0).toLowerCase()}${message.slice(1)}` : 'not YAML';
    findings.push({
      path: sections[index]?.path ?? [],
      at: pos[0],
      syntax: true,
      ...(words[code] ?? { message: own }),
    });
  }
  const root = { path: [], doubtful: doubtful.size > 0 };
  return {
    findings,
    brokenOffsets: errors.filter(({ code }) => valueErrors.has(code)).map(({ pos }) => pos[0]),
    sections: [root, ...sections.map(({ path }, index) => ({ path, doubtful: doubtful.has(index) }))],
  };
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
