/** `type: http`: the answer of one address, read as one of the text formats. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Batch } from '../core/mapping/column-batch.ts';
import { asColumns } from '../core/mapping/row-coder.ts';
import type { Content, Part } from '../core/model.ts';
import type { Clock, Source } from '../core/ports.ts';
import { PartFile } from './files/part-file.ts';
import { fileKeys, lineEndKey } from './files/keys.ts';
import type { FormatBatch, FormatReader } from './files/read-part.ts';
import { StableFile } from './files/stable-file.ts';
import type { ScanNeeds } from './formats/scan/read.ts';
import { checkRows, readJsonPages } from './formats/json-array.ts';
import { readJsonLinePages } from './formats/json-lines.ts';
import { checkTable } from './formats/table.ts';
import { type SourceContext, defineKind, freshVersion, needsOf } from './kind.ts';
import { formatsWith, textFormatKey, textFormatKeys, textReader } from './text-formats.ts';
import { charsetOf, formatOf, isPage, mediaTypes, unknownFormat } from './web/answer-format.ts';
import { checkAnswer, onePageError } from './web/answer-top.ts';
import { type WebPlace, accessKeys, checkWeb, urlKey, webPlaceOf } from './web/keys.ts';
import { accessToken, oauthKey, refusedToken } from './web/oauth.ts';
import { type PageContent, countRows, hashRows, readTables } from './web/page-tables.ts';
import { type Page, type Pages, fetchPages, isPaged, linkTo, pagesKey } from './web/pages.ts';
import { knownCodings, spool } from './web/spool.ts';
import { type Validators, answeredVersion, parseVersion, validatorsOf } from './web/validators.ts';
import { Web, type WebAnswer } from './web/web.ts';

const partName = 'response';
/** An answer waits so long to be read. Then its connection is closed, in case nobody reads it. */
const unreadMaxMs = 60_000;

const schema = z
  .strictObject({
    url: urlKey.describe(
      'What to ask for, by GET. User and password in it are sent as Basic authorization. Redirects are followed, up to 5. A server that gives an ETag or Last-Modified is asked whether anything changed; where it sends the content all the same (200, and not 304), and from any other, all is read with each `poll`.',
    ),
    ...accessKeys,
    oauth: oauthKey,
    pages: pagesKey,
    format: textFormatKey
      .optional()
      .describe('How the answer is read. Default: as its Content-Type says, else as the path of `url` ends.'),
    expandedMax: fileKeys.expandedMax.describe(
      'An answer that is, or expands to, more than this is refused. It is kept in a temporary file while it is read.',
    ),
    lineEnd: lineEndKey.describe(
      'An answer that does not end with a line end may be half of one. `expected`: it is not read where its accepted read ended with one, and a page of csv not where another page does. `any`: such answers are whole.',
    ),
    ...textFormatKeys,
    encoding: textFormatKeys.encoding.describe(
      'Of csv and tsv, as in a file. Default: the charset of the Content-Type, else `utf-8`.',
    ),
  })
  .superRefine(checkTable)
  .superRefine(checkRows)
  .superRefine(checkWeb)
  .superRefine(({ oauth, token, tokenFile, url }, context) => {
    const hasOther = token !== undefined || tokenFile !== undefined || (URL.parse(url)?.username ?? '') !== '';
    if (oauth === undefined || !hasOther) return;
    const params = { hint: 'keep one of the two' };
    context.addIssue({ code: 'custom', path: ['oauth'], message: 'oauth, and other credentials', params });
  });

type HttpSettings = z.output<typeof schema>;

export const http = defineKind(
  schema,
  (settings: HttpSettings, context: SourceContext): Source => {
    const resource = new Resource(settings, webPlaceOf(settings, context.baseDir), context);
    return {
      isExpensive: true,
      parts: async (signal, known) => [await resource.look(signal, known?.get(partName))],
      rows: (_part, signal) =>
        isPaged(settings.pages) ? resource.pageRows(settings.pages, signal) : resource.rows(signal),
      warnings: () => resource.warnings,
    };
  },
  { homeOfForeign: formatsWith },
);

/** An answer, and the connection that its body comes over. */
interface Asked {
  readonly web: Web;
  readonly answer: WebAnswer;
  readonly validators: Validators;
  readonly revisedAtMs: number;
}

class Resource {
  /** Of the last read. */
  warnings: readonly string[] = [];
  readonly #settings: HttpSettings;
  readonly #place: WebPlace;
  readonly #clock: Clock;
  readonly #needs: ScanNeeds;
  readonly #baseDir: string;
  /** Asked for by `parts` and not read yet: a server must not compute the same report twice. */
  #unread: (Asked & { readonly version: string; readonly timer: NodeJS.Timeout }) | undefined;

  constructor(settings: HttpSettings, place: WebPlace, context: SourceContext) {
    this.#settings = settings;
    this.#place = place;
    this.#clock = context.clock;
    this.#needs = needsOf(context);
    this.#baseDir = context.baseDir;
  }

  async look(signal: AbortSignal, known: string | undefined): Promise<Part> {
    this.#takeUnread()?.web.destroy();
    // The first page says nothing of the others.
    if (isPaged(this.#settings.pages)) {
      signal.throwIfAborted();
      return { name: partName, version: freshVersion(), revisedAtMs: this.#clock.now().getTime() };
    }
    const asked = await this.#ask(signal, known === undefined ? {} : parseVersion(known));
    const { web, answer, revisedAtMs } = asked;
    if (answer.status === 304 && known !== undefined) {
      web.destroy();
      return { name: partName, version: known, revisedAtMs };
    }
    const version = answeredVersion(asked.validators, known);
    this.#keepUnread(asked, version);
    return { name: partName, version, revisedAtMs };
  }

  async *rows(signal: AbortSignal): AsyncGenerator<Batch, Content, void> {
    signal.throwIfAborted();
    const unread = this.#takeUnread();
    const asked = unread ?? (await this.#ask(signal, {}));
    const { web, answer, revisedAtMs } = asked;
    try {
      const version = unread?.version ?? answeredVersion(asked.validators, undefined);
      const { expandedMax } = this.#settings;
      const spooled = await spool(web, answer, expandedMax, signal);
      try {
        const file = await openPage({ spooled, answer }, signal);
        try {
          const partFile = new PartFile(file, expandedMax);
          await this.#check(asked, partFile);
          const content = yield* asColumns(readerOf(this.#settings, answer, this.#needs)(partFile), this.#needs);
          return { ...this.#ending(content), hash: await partFile.hash(), version, revisedAtMs };
        } finally {
          await file.close();
        }
      } finally {
        await spooled.remove();
      }
    } finally {
      web.destroy();
    }
  }

  /** The rows of all pages. */
  async *pageRows(pages: Pages, signal: AbortSignal): AsyncGenerator<Batch, Content, void> {
    signal.throwIfAborted();
    this.warnings = [];
    const { expandedMax } = this.#settings;
    const read = async <T>(page: Page, work: (file: PartFile) => Promise<T>): Promise<T> => {
      const file = await openPage(page, signal);
      try {
        return await work(new PartFile(file, expandedMax));
      } finally {
        await file.close();
      }
    };
    const paging = {
      pages,
      expandedMax,
      ask: async (url: URL) => await this.#ask(signal, {}, url),
      countRows: async (page: Page) => await read(page, (file) => countRows(this.#readerOf(page)(file))),
      hash: async (page: Page) => await read(page, (file) => this.#hashOf(page, file)),
      bytes: async (page: Page) => await read(page, async ({ bytes }) => bytes),
      wholeHash: async (page: Page) => await read(page, async (file) => await file.hash()),
      check: async (page: Page, web: Web) =>
        await read(page, async (file) => await this.#check({ web, answer: page.answer }, file)),
      warn: (warning: string) => void (this.warnings = [...this.warnings, warning]),
    };
    const taken = await fetchPages(this.#place.url, paging, signal);
    const opened: StableFile[] = [];
    try {
      for (const page of taken) opened.push(await openPage(page, signal));
      const files = opened.map((file) => new PartFile(file, expandedMax));
      const content = yield* asColumns(this.#rowsOf(files, taken), this.#needs);
      const hash = createHash('sha256');
      for (const file of files) hash.update(`${await file.hash()}\n`);
      const revisedAtMs = this.#clock.now().getTime();
      return { ...this.#ending(content), hash: hash.digest('hex'), version: freshVersion(), revisedAtMs };
    } finally {
      for (const file of opened) await file.close();
      for (const { spooled } of taken) await spooled.remove();
    }
  }

  #ending(content: PageContent): Pick<Content, 'endsWithLineEnd'> {
    return this.#settings.lineEnd === 'any' ? {} : { endsWithLineEnd: content?.endsWithLineEnd };
  }

  async #check(asked: Pick<Asked, 'web' | 'answer'>, file: PartFile): Promise<void> {
    if (formatOf(this.#settings, asked.answer) === 'json') await checkAnswer(asked, file, this.#settings);
  }

  #rowsOf(files: readonly PartFile[], pages: readonly Page[]): AsyncGenerator<FormatBatch, PageContent, void> {
    switch (formatOf(this.#settings, (pages[0] as Page).answer)) {
      case 'json':
        return readJsonPages(files, this.#settings);
      case 'jsonl':
        return readJsonLinePages(files);
      default:
        return readTables(
          files.map((file, at) => this.#readerOf(pages[at] as Page)(file)),
          this.#settings,
        );
    }
  }

  /** Of what counts of a page: an answer of JSON may say something new around its rows each time, such as the number of the request. */
  async #hashOf({ answer }: Page, file: PartFile): Promise<string> {
    const isJson = formatOf(this.#settings, answer) === 'json';
    return isJson ? await hashRows(readJsonPages([file], this.#settings)) : await file.hash();
  }

  #readerOf({ answer }: Page): FormatReader {
    return readerOf(this.#settings, answer, this.#needs);
  }

  /** With a token of OAuth where that is wanted, and with another one where it is refused. */
  async #ask(signal: AbortSignal, validators: Validators, url = this.#place.url): Promise<Asked> {
    const { oauth: settings } = this.#settings;
    if (settings === undefined) return await this.#askAs(this.#place, { validators, url }, signal);
    const place = { settings, baseDir: this.#baseDir, place: this.#place, clock: this.#clock };
    for (const need of ['any', 'fresh'] as const) {
      const text = await accessToken(place, need, signal);
      const asked = await this.#askAs({ ...this.#place, token: { kind: 'text', text } }, { validators, url }, signal);
      if (asked.answer.status !== 401) return asked;
      asked.web.destroy();
      if (need === 'fresh') throw refusedToken(asked.web, url);
    }
    throw new Error('a token was asked for twice');
  }

  async #askAs(
    place: WebPlace,
    { validators: { etag, modified }, url }: { readonly validators: Validators; readonly url: URL },
    signal: AbortSignal,
  ): Promise<Asked> {
    const web = await Web.open(place, signal);
    try {
      const { format, pages, oauth } = this.#settings;
      const condition = {
        ...(etag !== undefined && { 'if-none-match': etag }),
        ...(modified !== undefined && { 'if-modified-since': modified }),
      };
      const headers = {
        ...condition,
        accept: format === undefined ? '*/*' : `${mediaTypes[format]}, */*;q=0.1`,
        'accept-encoding': knownCodings,
      };
      const statuses = [
        200,
        ...(Object.keys(condition).length === 0 ? [] : [304]),
        ...(oauth === undefined ? [] : [401]),
      ];
      const answer = await web.get(url, { headers, statuses }, signal);
      // Fails before the rows are read, so that `check` and the pass say it at once.
      if (answer.status === 200 && formatOf(this.#settings, answer) === undefined) {
        throw isPage(answer) ? web.pageFailure(answer.url) : unknownFormat(web, answer);
      }
      if (pages === undefined && linkTo(answer.header('link') ?? '', 'next') !== undefined)
        throw onePageError(web, answer, { how: 'its Link names a next one', pages: 'link' });
      const modifiedMs = Date.parse(answer.header('last-modified') ?? modified ?? '');
      const revisedAtMs = Number.isNaN(modifiedMs) ? this.#clock.now().getTime() : modifiedMs;
      return { web, answer, validators: validatorsOf(answer), revisedAtMs };
    } catch (error) {
      web.destroy();
      throw error;
    }
  }

  #keepUnread(asked: Asked, version: string): void {
    const timer = setTimeout(() => this.#takeUnread()?.web.destroy(), unreadMaxMs).unref();
    this.#unread = { ...asked, version, timer };
  }

  /** `undefined` also where it broke while it waited: it is asked for again. */
  #takeUnread(): (Asked & { readonly version: string }) | undefined {
    const kept = this.#unread;
    this.#unread = undefined;
    clearTimeout(kept?.timer);
    if (kept?.answer.body.destroyed !== true) return kept;
    kept.web.destroy();
    return undefined;
  }
}

async function openPage({ spooled }: Page, signal: AbortSignal): Promise<StableFile> {
  const ending = { gzip: '.gz', zstd: '.zst', none: '' }[spooled.compression ?? 'none'];
  return await StableFile.open(spooled.file, `${partName}${ending}`, signal);
}

function readerOf(settings: HttpSettings, answer: WebAnswer, needs: ScanNeeds): FormatReader {
  const format = formatOf(settings, answer) ?? 'csv';
  const isDelimited = format === 'csv' || format === 'tsv';
  const encoding = settings.encoding ?? (isDelimited ? charsetOf(answer) : undefined) ?? 'utf-8';
  return textReader(format, { ...settings, encoding }, needs);
}
