/** Answers that come in pages: all of them, or none. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { grouped } from '../limits.ts';
import { type Spooled, spool } from './spool.ts';
import { parseTexts } from './json.ts';
import type { Web, WebAnswer } from './web.ts';

const pointer = z
  .string()
  .refine((text) => /^\/(?:[^~]|~[01])*$/.test(text), 'expected a JSON pointer such as /next or /paging/cursor');
const parameter = z.string().min(1).describe('The parameter of the address that it is sent as.');

export const pagesKey = z
  .union(
    [
      z.literal('link').transform(() => ({ by: 'link' }) as const),
      z.literal('one').transform(() => ({ by: 'one' }) as const),
      z
        .strictObject({ next: pointer.describe('A JSON pointer to the address of the next page.') })
        .transform(({ next }) => ({ by: 'next', next }) as const),
      z
        .strictObject({ cursor: pointer.describe('A JSON pointer to what is sent for the next page.'), parameter })
        .transform(({ cursor, parameter: name }) => ({ by: 'cursor', cursor, parameter: name }) as const),
      z
        .strictObject({
          parameter,
          from: z
            .int()
            .min(0)
            .optional()
            .describe('The number of the first page, 1 by default, or with `step` of the first row.'),
          step: z.int().min(1).optional().describe('Rows of a page, where the parameter counts rows.'),
        })
        .transform(({ parameter: name, from, step }) => ({ by: 'number', parameter: name, from, step }) as const),
    ],
    {
      error:
        'expected link, one, { next: /pointer }, { cursor: /pointer, parameter: name } or { parameter: page, from: 1 }',
    },
  )
  .superRefine(checkCounting)
  .optional()
  .describe(
    'Where the rows come in pages: `link` follows the `Link` header; `{ next: /next }` the address at a JSON pointer; `{ cursor: /next_cursor, parameter: cursor }` sends what is at a pointer as a parameter; `{ parameter: page, from: 1 }` counts until a page has no rows; `{ parameter: offset, from: 0, step: 100 }` counts rows, of which a page has 100. All pages are read, up to 1000, or none; then the first one is asked for again, and has to have the rows that it had. `one`: the answer counts as all there is, also where it names a next page. Default: such an answer is refused.',
  );

/** Names that count rows: counted as pages, all rows but the first ones of each page would come again and again. */
const rowCounter = /^(?:.*\[)?\$?(?:offset|skip|start|start_?index|start_?at)\]?$/i;

/** Where rows begin is never guessed: some servers count the first as 0, some as 1. */
function checkCounting(
  pages: {
    readonly by: string;
    readonly parameter?: string;
    readonly from?: number | undefined;
    readonly step?: number | undefined;
  },
  context: z.RefinementCtx,
): void {
  const { by, parameter: name = '', from, step } = pages;
  if (by !== 'number' || (from !== undefined && step !== undefined)) return;
  const refuse = (message: string, hint: string): void =>
    context.addIssue({ code: 'custom', message, params: { hint } });
  if (step !== undefined) refuse('step, and no from', 'say which number the first row has: from: 0, or from: 1');
  else if (rowCounter.test(name)) {
    refuse(
      'the parameter counts rows by its name, and there is no step',
      `say how many rows a page has: { parameter: ${name}, from: 0, step: 100 }; step: 1 where it counts pages all the same`,
    );
  }
}

export type PagesSetting = z.output<typeof pagesKey>;
export type Pages = Exclude<PagesSetting, { by: 'one' } | undefined>;

export function isPaged(pages: PagesSetting): pages is Pages {
  return pages !== undefined && pages.by !== 'one';
}

const pagesMax = 1000;
/** A page is held in memory where a pointer leads into it. */
const pageBytesMax = 64_000_000;

export interface Page {
  readonly spooled: Spooled;
  readonly answer: WebAnswer;
}

export interface Paging {
  readonly pages: Pages;
  /** For all pages together. */
  readonly expandedMax: number;
  /** Of the address, or a further page. */
  readonly ask: (url: URL) => Promise<{ readonly web: Web; readonly answer: WebAnswer }>;
  readonly countRows: (page: Page) => Promise<number>;
  readonly hash: (page: Page) => Promise<string>;
  readonly bytes: (page: Page) => Promise<number>;
  /** Of every byte, and not only of the rows. */
  readonly wholeHash: (page: Page) => Promise<string>;
  /** @throws AgentError for a page that is no answer */
  readonly check: (page: Page, web: Web) => Promise<void>;
  /** What somebody should know of pages that count all the same. */
  readonly warn: (warning: string) => void;
}

/** All pages, whose files the caller removes. @throws AgentError where one of them does not come, or the first one changed meanwhile */
export async function fetchPages(first: URL, paging: Paging, signal: AbortSignal): Promise<readonly Page[]> {
  const { pages, ask, expandedMax, hash } = paging;
  const taken: Page[] = [];
  const seen = new Set<string>();
  const counted: Counted[] = [];
  let left = expandedMax;
  const fetch = async (url: URL): Promise<{ readonly page: Page; readonly web: Web }> => {
    const { web, answer } = await ask(url);
    try {
      const page = { spooled: await spool(web, answer, left, signal), answer };
      try {
        await paging.check(page, web);
      } catch (error) {
        await page.spooled.remove();
        throw error;
      }
      return { page, web };
    } finally {
      web.destroy();
    }
  };
  try {
    const start = pages.by === 'number' ? withParameter(first, pages.parameter, String(pages.from ?? 1)) : first;
    for (let url: URL | undefined = start; url !== undefined;) {
      const { page, web } = await fetch(url).catch((error: unknown) => {
        throw onPage(taken.length + 1, error);
      });
      taken.push(page);
      left -= await paging.bytes(page);
      seen.add(url.href);
      const next: URL | undefined = await nextOf({ page, web, first, at: taken.length, counted }, paging);
      if (next !== undefined && seen.has(next.href))
        throw pagingFailure(web, url, `page ${taken.length} leads back to an earlier one`);
      if (next !== undefined && taken.length === pagesMax)
        throw pagingFailure(web, url, `there are more than ${pagesMax} pages`);
      url = next;
    }
    if (taken.length > 1) await checkFirst(start, taken[0] as Page, { fetch, hash });
    return taken;
  } catch (error) {
    await Promise.all(taken.map(({ spooled }) => spooled.remove()));
    throw error;
  }
}

/** An address in a message has no parameters, so every page would be called the same. */
function onPage(page: number, error: unknown): unknown {
  if (page === 1 || !isAgentError(error)) return error;
  return new AgentError(error.code, `page ${page} of ${error.message}`, { cause: error, hint: error.hint });
}

/** Rows that came in while the pages were read may stand on two of them, or on none. */
async function checkFirst(
  url: URL,
  before: Page,
  { fetch, hash }: { readonly fetch: (url: URL) => Promise<{ page: Page; web: Web }> } & Pick<Paging, 'hash'>,
): Promise<void> {
  const { page, web } = await fetch(url);
  try {
    if ((await hash(page)) === (await hash(before))) return;
    throw web.failure(url, {
      why: 'its first page changed while the others were read',
      hint: 'it is read again; ask for an order that new rows do not change, or for a closed period',
    });
  } finally {
    await page.spooled.remove();
  }
}

interface Taken {
  readonly page: Page;
  readonly web: Web;
  readonly first: URL;
  /** How many pages there are so far. */
  readonly at: number;
  /** Those before this one, where pages are counted. */
  readonly counted: Counted[];
}

interface Counted {
  readonly rows: number;
  readonly hash: string;
}

async function nextOf(taken: Taken, paging: Paging): Promise<URL | undefined> {
  const { pages, warn } = paging;
  const { page, web, first, at } = taken;
  const { url, header } = page.answer;
  const textAt = async (place: string): Promise<string | undefined> => {
    const value = await valueAt(web, page, place);
    if (value === undefined && at === 1) {
      warn(
        `the first page has nothing at ${place}, so it is taken as the only one: is that where a next one is named?`,
      );
    }
    if (value === undefined || value === null || value === '' || value === false) return undefined;
    if (typeof value === 'string') return value;
    throw pagingFailure(web, url, `what is at ${place} is no text`);
  };
  switch (pages.by) {
    case 'link': {
      const target = linkTo(header('link') ?? '', 'next');
      return target === undefined ? undefined : addressOf(web, url, target);
    }
    case 'next': {
      const target = await textAt(pages.next);
      return target === undefined ? undefined : addressOf(web, url, target);
    }
    case 'cursor': {
      const cursor = await textAt(pages.cursor);
      return cursor === undefined ? undefined : withParameter(first, pages.parameter, cursor);
    }
    case 'number': {
      const next = await nextNumber(taken, pages, paging);
      return next === undefined ? undefined : withParameter(first, pages.parameter, String(next));
    }
  }
}

/** A page with fewer rows than `step` has to be the last one: else the server's pages are shorter than `step`, and rows would be skipped. */
async function nextNumber(
  { page, web, at, counted }: Taken,
  { parameter: name, from = 1, step = 1 }: Extract<Pages, { by: 'number' }>,
  { countRows, wholeHash }: Paging,
): Promise<number | undefined> {
  const now = { rows: await countRows(page), hash: await wholeHash(page) };
  if (now.rows === 0) return undefined;
  const { url } = page.answer;
  const before = counted.at(-1);
  if (before?.hash === now.hash) {
    const hint = `check pages: the server may not know the parameter ${name}, or give its last page again behind it`;
    throw web.failure(url, { why: `page ${at} is the same as page ${at - 1}`, hint });
  }
  counted.push(now);
  if (step === 1) return from + at;
  const other = now.rows > step ? at : before !== undefined && before.rows < step ? at - 1 : undefined;
  if (other === undefined) return from + counted.reduce((sum, { rows }) => sum + rows, 0);
  const why = `page ${other} has ${grouped(counted[other - 1]?.rows ?? 0)} rows, and step says ${grouped(step)}`;
  throw web.failure(url, { why, hint: 'set step to the rows that the server gives on a page' });
}

function withParameter(url: URL, name: string, value: string): URL {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return next;
}

function addressOf(web: Web, from: URL, target: string): URL {
  const next = URL.parse(target, from.href);
  const isSafe = next !== null && (next.protocol === 'https:' || next.protocol === from.protocol);
  if (isSafe && /^https?:$/.test(next.protocol)) return next;
  throw pagingFailure(web, from, 'what leads to its next page is no address, or one that is not encrypted');
}

const parameterName = /[\w!#$&+.^`|~'*%-]+/.source;
const parameterText = String.raw`\s*;\s*(${parameterName})\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?`;
/** `<target>; name=value; name="value"`, as often as it stands in the header. */
const linkPattern = new RegExp(`<([^>]*)>((?:${parameterText})*)`, 'g');
const parameterPattern = new RegExp(parameterText, 'g');

/** The target of a `Link` header (RFC 8288) of this relation. */
export function linkTo(header: string, relation: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(linkPattern)) {
    // The first one of a name counts.
    const [, , quoted, bare] =
      [...parameters.matchAll(parameterPattern)].find(([, name]) => name?.toLowerCase() === 'rel') ?? [];
    if ((quoted ?? bare ?? '').toLowerCase().split(/\s+/).includes(relation)) return target;
  }
  return undefined;
}

/** What is at a JSON pointer, numbers as their text; `undefined` where its last key is not there. */
async function valueAt(web: Web, { spooled, answer }: Page, at: string): Promise<unknown> {
  const bytes = await readFile(spooled.file);
  if (bytes.length > pageBytesMax) throw pagingFailure(web, answer.url, `a page has more than ${pageBytesMax} bytes`);
  let value = parseTexts(bytes.toString('utf8'));
  if (value === undefined) throw pagingFailure(web, answer.url, 'a page is not JSON, so that no pointer leads into it');
  const steps = at
    .split('/')
    .slice(1)
    .map((text) => text.replaceAll('~1', '/').replaceAll('~0', '~'));
  for (const [depth, step] of steps.entries()) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
    // The last page may leave its last key out. Where what should hold it is missing, one page would look like all.
    if (!isThere && depth === steps.length - 1 && typeof value === 'object' && value !== null) return undefined;
    if (!isThere) throw pagingFailure(web, answer.url, `a page has nothing at /${steps.slice(0, depth + 1).join('/')}`);
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function pagingFailure(web: Web, url: URL, why: string): AgentError {
  return web.failure(url, { why, hint: 'check pages: does the server page in this way?' });
}
