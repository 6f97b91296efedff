/**
 * JSON texts in rows of the ledger, on SQLite and PostgreSQL. A disk that changed a letter of one has often left it JSON, so its
 * shape is looked at too: what is not as it was written must not be taken for something else, nor for a bug.
 */
import type { Request } from '../../core/ledger.ts';
import type { Changes } from '../../core/series/diff.ts';
import type { ReachingFinding } from '../../core/values/finding.ts';

type Is = (value: unknown) => boolean;

const isText: Is = (value) => typeof value === 'string';
const isNumber: Is = (value) => typeof value === 'number';
const isMissing: Is = (value) => value === undefined;
const either =
  (...all: readonly Is[]): Is =>
  (value) =>
    all.some((is) => is(value));
const isList =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);
const isRecord =
  (fields: Readonly<Record<string, Is>>): Is =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([key, is]) => is((value as Record<string, unknown>)[key]));

const isCounts = isRecord({ create: isNumber, update: isNumber, delete: isNumber });
const isChanges = isRecord({ drivers: isCounts, points: isCounts });
const isTexts = isList(isText);
const isRequest = either(
  isRecord({
    kind: (kind) => kind === 'forget',
    source: isText,
    part: either(isText, isMissing),
    parts: either(isTexts, isMissing),
  }),
  isRecord({ kind: (kind) => kind === 'rollback', push: isNumber }),
);
const isFinding = isRecord({
  kind: isText,
  group: isTexts,
  points: isNumber,
  of: isNumber,
  factor: either(isText, isMissing),
  months: either(isNumber, isMissing),
  inMonths: either(isTexts, isMissing),
  with: either(isTexts, isMissing),
  reach: either(isTexts, isMissing),
  examples: isList(isRecord({ driver: isText, month: isText })),
});

export function parseChanges(text: string): Changes {
  return parse(text, isChanges) as Changes;
}

export function parseRequest(text: string): Request {
  return parse(text, isRequest) as Request;
}

export function parseTexts(text: string): readonly string[] {
  return parse(text, isTexts) as readonly string[];
}

export function parseFindings(text: string): readonly ReachingFinding[] {
  return parse(text, isList(isFinding)) as readonly ReachingFinding[];
}

/** The result of a request: a word, or JSON with the outcome of its push. */
export function resultText(text: string): string {
  if (text.startsWith('{')) parse(text, isRecord({ outcome: isText, reason: either(isText, isMissing) }));
  return text;
}

/** By driver its deleted months and those of them that moved, packed. */
export function parseDeletes(text: string): readonly (readonly [driver: string, deleted: string, moved?: string])[] {
  return parse(
    text,
    isList((one) => isTexts(one) && [2, 3].includes((one as readonly string[]).length)),
  ) as ReturnType<typeof parseDeletes>;
}

function parse(text: string, is: Is): unknown {
  const value: unknown = JSON.parse(text);
  if (!is(value)) throw new Error('a text in it is not as it was written');
  return value;
}

/** Rows as `read` understands them. @throws what `damaged` makes of a row that it does not. */
export function readRows<Row, T>(rows: readonly Row[], read: (row: Row) => T, damaged: (cause: Error) => Error): T[] {
  try {
    return rows.map((row) => read(row));
  } catch (error) {
    throw error instanceof Error ? damaged(error) : error;
  }
}
