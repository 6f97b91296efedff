/** Problems of a config: what is wrong, where it is written, and what to do. */
import type { ConfigDocument } from './document.ts';
import { type Finding, type Path, pathKey } from './finding.ts';
import { spotsIn } from './place.ts';

/** One thing to correct, as `check` prints it. Lines and columns count from 1, columns in UTF-16 units. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `sources.revenue.drivers[0].value.scale`. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

/** The findings as problems, in the order of the file, each once however many aliases lead to it. */
export function locateProblems(file: string, document: ConfigDocument, findings: readonly Finding[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const finding of findings) {
    const offset = finding.at ?? offsetOf(document, finding);
    if (finding.syntax === undefined && isDoubtful(document, finding.path)) continue;
    const { line, column } = positionOf(document.text, offset);
    const { message, hint } = wordsOf(finding, document);
    const problem = {
      file,
      line,
      column,
      path: showPath(finding.path),
      message,
      ...(hint === undefined ? {} : { hint }),
    };
    const key = `${problem.line}:${problem.column}:${message}`;
    if (!problems.has(key)) problems.set(key, problem);
  }
  return [...problems.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** yaml's own LineCounter misses the first line end of a file that begins with an alias (2.9.1). */
function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Whether its section, or for what the top level lacks any section, may have been misread. */
function isDoubtful(document: ConfigDocument, path: Path): boolean {
  const around = document.sections.filter((section) => section.path.every((step, index) => step === path[index]));
  const [root, ...sections] = around;
  return sections.length === 0 ? root?.doubtful === true : sections.some((section) => section.doubtful);
}

function offsetOf(document: ConfigDocument, { path, on }: Finding): number {
  for (let length = path.length; length > 0; length -= 1) {
    const spot = document.spots.get(pathKey(path.slice(0, length)));
    if (spot !== undefined) return on === undefined || on === 'value' ? spot.offset : (spot.keyOffset ?? spot.offset);
  }
  return 0;
}

function wordsOf(
  { path, on = 'value', message, detail = '', hint, syntax }: Finding,
  document: ConfigDocument,
): { message: string; hint: string | undefined } {
  const inside = syntax === undefined && on === 'value' ? spotsIn(document.spots, path) : [];
  const names = [...new Set(inside.flatMap(({ variables }) => variables ?? []))];
  if (names.length === 0) return { message: isSecret(path) ? message : message + detail, hint };
  const values = names.flatMap((name) => document.variables.get(name) ?? []).filter((value) => value !== '');
  const shows = (text: string | undefined): boolean => values.some((value) => text?.includes(value));
  const from = names.map((name) => `\${${name}}`).join(' and ');
  // A schema of a source may quote what it was given, and cannot know where that came from.
  const said = shows(message) ? 'not a value that fits here' : message;
  return { message: `${said}; it comes from ${from}`, hint: shows(hint) ? undefined : hint };
}

/** Whether what is written there may itself be a secret. */
function isSecret([section, key]: Path): boolean {
  return section === 'destination' && ['url', 'token', 'tokenFile', 'headers'].includes(String(key));
}

function showPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}
