/** Adds file, line and column to diagnostics. */
import { spotsIn } from './cursor.ts';
import { type Diagnostic, type Path, type PlacedDiagnostic, pathKey } from './diagnostics.ts';
import type { ConfigDocument } from './document.ts';
import { secretSections } from './secret-sections.ts';

/** In the order of the file. What several aliases lead to is shown once. */
export function placeDiagnostics(
  file: string,
  document: ConfigDocument,
  diagnostics: readonly Diagnostic[],
): PlacedDiagnostic[] {
  const problems = new Map<string, PlacedDiagnostic>();
  for (const diagnostic of diagnostics) {
    const offset = diagnostic.at ?? offsetOf(document, diagnostic);
    if (diagnostic.syntax === undefined && isDoubtful(document, diagnostic.path)) continue;
    const { line, column } = positionOf(document.text, offset);
    const { message, hint } = wordsOf(diagnostic, document);
    const problem = {
      file,
      line,
      column,
      path: showPath(diagnostic.path),
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

/** Whether its section may have been misread; for a place outside of sections, whether any of the file was. */
function isDoubtful(document: ConfigDocument, path: Path): boolean {
  const around = document.sections.filter((section) => section.path.every((step, index) => step === path[index]));
  const [root, ...sections] = around;
  return sections.length === 0 ? root?.doubtful === true : sections.some((section) => section.doubtful);
}

function offsetOf(document: ConfigDocument, { path, on }: Diagnostic): number {
  for (let length = path.length; length > 0; length -= 1) {
    const spot = document.spots.get(pathKey(path.slice(0, length)));
    if (spot !== undefined) return on === undefined || on === 'value' ? spot.offset : (spot.keyOffset ?? spot.offset);
  }
  return 0;
}

function wordsOf(
  { path, on = 'value', message, detail = '', hint, syntax }: Diagnostic,
  document: ConfigDocument,
): { message: string; hint: string | undefined } {
  const inside = syntax === undefined && on === 'value' ? spotsIn(document.spots, path) : [];
  const names = [...new Set(inside.flatMap(({ variables }) => variables ?? []))];
  if (names.length === 0) return { message: isSecret(path) || login.test(detail) ? message : message + detail, hint };
  const values = names.flatMap((name) => document.variables.get(name) ?? []).filter((value) => value !== '');
  const shows = (text: string | undefined): boolean => values.some((value) => text?.includes(value));
  const from = names.map((name) => `\${${name}}`).join(' and ');
  // A source's own schema may quote a value without knowing that it came from a variable.
  const said = shows(message) ? 'not a value that fits here' : message;
  return { message: `${said}; it comes from ${from}`, hint: shows(hint) ? undefined : hint };
}

/** Whether the value at this path may be a secret, also where something else was meant to stand there. */
function isSecret([section, first, second]: Path): boolean {
  const isOwn = section === 'destination' || section === 'defaults';
  const key = String(section === 'sources' ? second : isOwn ? first : section);
  return secretSections.has(key) || ['url', 'token', 'tokenFile'].includes(key);
}

/** An address in a list of files may hold a password. */
const login = /:\/\/[^\s/]*@/;

function showPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}
