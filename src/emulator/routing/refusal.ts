/** Refusals of model routing. They are thrown, so that REST, agent tools and pages can each show them in their way. */
import type { z } from 'zod';

const docUrl = 'https://docs.dev.runwayml.com/api';

/** How many issues are reported. */
const issuesMax = 20;

/** Longest message: it may quote a key, and a key can be as long as the body. */
const messageCharactersMax = 2_000;

export interface RefusalBody {
  readonly error: string;
  readonly [key: string]: unknown;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly body: RefusalBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: RefusalBody, headers: Readonly<Record<string, string>> = {}) {
    super(body.error);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** An issue as zod 4 words it; `path` is a list of keys and indexes. */
export interface BodyIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly [key: string]: unknown;
}

/** 400 with the live service's body for input that does not fit the schema. */
export function invalid(issues: readonly (BodyIssue | z.core.$ZodIssue)[], part: 'body' | 'query' = 'body'): Refusal {
  return new Refusal(400, {
    error: `Validation of ${part} failed`,
    issues: issues.slice(0, issuesMax).map(shorten),
    docUrl,
  });
}

/** 400 for one problem that no schema finds. */
export function invalidAt(path: readonly PropertyKey[], message: string, part: 'body' | 'query' = 'body'): Refusal {
  return invalid([{ code: 'custom', path, message }], part);
}

export function notEnoughCredits(): Refusal {
  return new Refusal(400, { error: 'You do not have enough credits to run this task.', docUrl });
}

export function notFound(error: string): Refusal {
  return new Refusal(404, { error });
}

function shorten(issue: BodyIssue | z.core.$ZodIssue): BodyIssue {
  const short: Record<string, unknown> = { ...issue, message: issue.message.slice(0, messageCharactersMax) };
  if (Array.isArray(short['keys'])) {
    short['keys'] = (short['keys'] as string[]).slice(0, issuesMax).map((key) => key.slice(0, messageCharactersMax));
  }
  return short as unknown as BodyIssue;
}
