/** As which text format an answer is read. */
import { AgentError } from '../../core/errors.ts';
import { isPageType } from '../../http/answer.ts';
import { oneLine } from '../../http/masking.ts';
import { isEncoding } from '../formats/text.ts';
import { type TextFormat, textFormats } from '../text-formats.ts';
import type { Web, WebAnswer } from './web.ts';

export interface FormatSettings {
  readonly format?: TextFormat | undefined;
  readonly url: string;
}

export const mediaTypes: Readonly<Record<TextFormat, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
};

/** By the subtype of a Content-Type, without `x-`. */
const typeFormats: Readonly<Record<string, TextFormat>> = {
  csv: 'csv',
  'comma-separated-values': 'csv',
  tsv: 'tsv',
  'tab-separated-values': 'tsv',
  ndjson: 'jsonl',
  jsonl: 'jsonl',
  jsonlines: 'jsonl',
  'json-lines': 'jsonl',
  json: 'json',
};

const suffixFormats: Readonly<Record<string, TextFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'json',
};

/** `undefined` where neither the config, the Content-Type nor the address tells. */
export function formatOf({ format, url }: FormatSettings, answer: WebAnswer): TextFormat | undefined {
  if (format !== undefined) return format;
  const [, type = ''] = /^[\w.-]+\/(?:x-)?([\w.+-]+)/.exec(answer.header('content-type')?.toLowerCase() ?? '') ?? [];
  const byType = typeFormats[type] ?? (type.endsWith('+json') ? 'json' : undefined);
  if (byType !== undefined) return byType;
  if (isPage(answer)) return undefined;
  const bySuffix = [new URL(url), answer.url].map(({ pathname }) => {
    const [, suffix = ''] = /\.(\w+?)(?:\.(?:gz|zst))?$/.exec(pathname.toLowerCase()) ?? [];
    return suffixFormats[suffix];
  });
  return bySuffix.find((found) => found !== undefined);
}

export function isPage(answer: WebAnswer): boolean {
  return isPageType(answer.header('content-type'));
}

export function unknownFormat(web: Web, { url, header }: WebAnswer): AgentError {
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(header('content-type') ?? '')?.[0];
  const what = type === undefined ? 'without a Content-Type' : `of Content-Type ${type}`;
  return web.failure(url, {
    why: `the answer ${what} does not tell its format`,
    hint: `set format to one of ${textFormats.join(', ')}`,
  });
}

/** @throws AgentError `part.unreadable` for an unknown charset: read as another one, texts would be wrong without a sign. */
export function charsetOf(answer: WebAnswer): string | undefined {
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(answer.header('content-type') ?? '') ?? [];
  const charset = quoted ?? bare;
  if (charset === undefined || isEncoding(charset)) return charset;
  throw new AgentError(
    'part.unreadable',
    `the Content-Type names a charset that is not known: ${oneLine(charset, [], 40)}`,
    {
      hint: 'say which encoding it is: encoding: windows-1252, for example',
    },
  );
}
