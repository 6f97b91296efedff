/** What servers answer, and what leads to them: rows of databases, lists of files, headers, queries and addresses. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { AnswerLines } from '../../src/sources/databases/clickhouse-lines.ts';
import { plainSelect } from '../../src/sources/databases/clickhouse-select.ts';
import { type Syntax, tokensOf, withoutEnd } from '../../src/sources/databases/query-words.ts';
import { BatchReader, BatchWriter, type WireBatch } from '../../src/sources/databases/wire-batch.ts';
import { XmlFault } from '../../src/sources/formats/xml.ts';
import { parseRemote } from '../../src/sources/remote/address.ts';
import { knownHosts } from '../../src/sources/remote/host-key.ts';
import { readElements } from '../../src/sources/remote/xml-list.ts';
import { parseTexts } from '../../src/sources/web/json.ts';
import { linkTo } from '../../src/sources/web/pages.ts';
import { fileTargets, jsonTokens } from './fuzz-files.ts';
import { folderOf } from './fuzz-folder.ts';
import { type FuzzTarget, must, refusing } from './fuzz-target.ts';
import { updateBody } from './fuzz-wire.ts';
import type { Draw } from './nasty-files.ts';

const folder = folderOf('answers');

const bytesOf = (...texts: readonly string[]): (() => Buffer[]) => {
  return () => texts.map((text) => Buffer.from(text));
};

const shown = (value: unknown): string => JSON.stringify(value);

/** As a network hands it over. */
function pieces(input: Buffer, draw: Draw): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < input.length;) {
    const length = 1 + draw.below(draw.once(3) ? 4 : 64);
    found.push(input.subarray(at, at + length));
    at += length;
  }
  return found;
}

function readAnswer(parts: readonly Buffer[], hasEnd: boolean): object {
  const lines = new AnswerLines('db.test', { columns: 2, hasEnd });
  for (const part of parts) lines.push(part);
  lines.end();
  const { isWhole, hasEnded, failure } = lines;
  const rows = lines.take();
  for (const row of rows) must(row.length === 2, () => `a row of other columns: ${shown(row)}`);
  return { rows, isWhole, hasEnded, failure };
}

/** What an answer says does not depend on how it comes. */
function checkAnswer(input: Buffer, draw: Draw): void {
  const hasEnd = draw.once(2);
  const whole = readAnswer([input], hasEnd);
  const pieced = readAnswer(pieces(input, draw), hasEnd);
  must(isDeepStrictEqual(pieced, whole), () => `${shown(whole)}, and in pieces ${shown(pieced)}`);
}

/** A query that goes inside another one has the same words without its end. */
function checkQuery(input: Buffer): void {
  const query = input.toString();
  for (const syntax of ['standard', 'mysql', 'clickhouse'] satisfies Syntax[]) {
    const words = tokensOf(query, syntax);
    for (const { text, at } of words) must(query.startsWith(text, at), () => `${text} is not at ${at} of ${query}`);
    const last = words.findLastIndex(({ text }) => text !== ';') + 1;
    const inner = withoutEnd(query, syntax);
    must(
      isDeepStrictEqual(tokensOf(inner, syntax), words.slice(0, last)),
      () => `${syntax}: ${shown(query)} without its end is ${shown(inner)}`,
    );
  }
  const select = plainSelect(query);
  if (select === undefined) return;
  for (const piece of [select.from, select.where ?? '', ...select.items.map((item) => item.slice(1, -1))])
    must(query.includes(piece), () => `${shown(piece)} is not in ${shown(query)}`);
}

/** The elements of a list, or why there are none. */
async function elements(parts: readonly Buffer[], root: string): Promise<readonly string[] | string> {
  const found: string[] = [];
  try {
    // What asks for a list reads a stream.
    await readElements(ReadableStream.from(parts), root, (name, text) => found.push(`${name} ${text}`));
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    must(error.message !== '', () => 'a fault without words');
    return 'a fault';
  }
  return found;
}

async function checkList(input: Buffer, draw: Draw): Promise<void> {
  const root = draw.one(['ListBucketResult', 'multistatus']);
  const whole = await elements([input], root);
  const pieced = await elements(pieces(input, draw), root);
  must(isDeepStrictEqual(pieced, whole), () => `${shown(whole)}, and in pieces ${shown(pieced)}`);
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const key = 'AAAAC3NzaC1lZDI1NTE5AAAAIBwN0Rk2jv1XUe5Ik0S8M1Qmmz8m3Zr1o0b6q8nq0l4d';

export const answerTargets: Readonly<Record<string, FuzzTarget>> = {
  'json-answer': {
    seeds: () => [updateBody, Buffer.from('{"next":"x","rows":[{"a":1.10,"b":null}]}')],
    tokens: jsonTokens,
    check(input) {
      const text = input.toString();
      const isJson = parseTexts(text) !== undefined;
      must(isJson === isParsed(text), () => `JSON, or not: ${text}`);
    },
  },
  'database-rows': {
    seeds: () => fileTargets['csv']?.seeds() ?? [],
    tokens: ['\0', '\ufffd', '1', '-0', '1.50'],
    check(input, draw) {
      const columns = ['a', 'b'];
      const fields = input.toString().split(/[,\n]/);
      const rows = Array.from({ length: fields.length >> 1 }, (_, at) => [
        fields[2 * at] ?? '',
        fields[2 * at + 1] ?? '',
      ]);
      const needs = columns.map(() => ({ isCoded: draw.once(2), isValue: draw.once(2) }));
      const batch = new BatchReader(columns).read(
        deserialize(serialize(new BatchWriter(columns, needs).write(rows))) as WireBatch,
      );
      for (const [at, row] of rows.entries())
        must(isDeepStrictEqual(batch.row(at), row), () => `row ${at} arrives as ${shown(batch.row(at))}`);
    },
  },
  'clickhouse-answer': {
    seeds: bytesOf(
      '+\t1\ta\n+\t2\tb\\tc\n+\t3\tzwölf\n\n+\t1\ta\n+\t3\tzwölf\n',
      '+\t1\t\\N\n+\t2\t\\\\\\n\n',
      '',
      "+\t1\ta\nCode: 395. DB::Exception: Value passed to 'throwIf' function is non-zero\n",
    ),
    tokens: ['+\t', '\t', '\n', '\n\n', '\\', String.raw`\N`, 'Code: 1. DB::Exception: x', 'é', '\ud83d\ude00'],
    check: checkAnswer,
  },
  queries: {
    seeds: bytesOf(
      "SELECT a AS b, sum(c) FROM t WHERE d = 'x;' -- all\n;",
      'WITH q AS (SELECT 1) (SELECT * FROM q ORDER BY 1) LIMIT 5;',
      "select `a``b`, \"c\" from x /* ; */ where e'it\\'s' = $$;$$ # no\n",
      'SELECT toString(id) AS id, value FROM db.bookings FINAL WHERE month >= toDate(1);;',
    ),
    tokens: [
      "'",
      '"',
      '`',
      '$$',
      '$a$',
      '--',
      '-- ',
      '#',
      '# ',
      '/*',
      '*/',
      ';',
      '(',
      ')',
      '[',
      '\\',
      '\n',
      "e'",
      '.limit',
    ],
    check: checkQuery,
  },
  'remote-list': {
    seeds: bytesOf(
      '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b.csv</Key><ETag>&quot;x&quot;</ETag><Size>3</Size></Contents></ListBucketResult>',
      '<d:multistatus xmlns:d="DAV:"><d:response><d:href>/a%20b.csv</d:href><d:propstat><d:prop><d:getetag><![CDATA["x"]]></d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>',
    ),
    tokens: [
      '<',
      '</',
      '/>',
      '>',
      '&',
      '&#0;',
      '&#x1F600;',
      '&lt',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<?',
      '<!DOCTYPE x>',
      'é',
      '\ufeff',
    ],
    check: checkList,
  },
  'link-header': {
    seeds: bytesOf(
      '<https://a.test/?page=2>; rel="next", <https://a.test/?page=9>; rel=last',
      '<?b>; title="a\\"b" ; rel="first NEXT"',
    ),
    tokens: ['<', '>', ';', ',', '"', '\\', '=', 'rel', 'next', ' ', "title*=UTF-8''x"],
    check(input) {
      const header = input.toString();
      const target = linkTo(header, 'next');
      must(target === undefined || header.includes(`<${target}>`), () => `${shown(header)} leads to ${target}`);
    },
  },
  addresses: {
    seeds: bytesOf(
      's3://bucket/folder/*.csv',
      'sftp://user:hunter2@host.test:2222/in/{a,b}-*.csv.gz',
      'https://user:hunter2@[::1]/dav/x%20y/**/*.xlsx',
    ),
    tokens: ['/', '//', '@', ':', '%', '%2', '%2e%2e', '?', '#', '[', ']', '\\', ' ', '\0', 'hunter2'],
    check(input) {
      const text = input.toString();
      const read = parseRemote(text);
      if ('message' in read)
        must(!`${read.message} ${read.hint}`.includes('hunter2'), () => `a secret: ${read.message}`);
    },
  },
  'known-hosts': {
    seeds: bytesOf(
      `host.test,[a.test]:2222 ssh-ed25519 ${key}\n# x\n@revoked *.test ssh-ed25519 ${key} me\n|1|c2FsdA==|aGFzaA== ssh-rsa ${key}`,
    ),
    tokens: ['\n', ' ', ',', '!', '*', '?', '|1|', '[', ']', '@revoked ', '@cert-authority ', '#', '\\', '='],
    async check(input) {
      const file = path.join(folder, 'known_hosts');
      writeFileSync(file, input);
      await refusing(async () => {
        const known = await knownHosts({ host: 'host.test', port: 22 }, file);
        known.check(Buffer.from(key, 'base64'));
      });
    },
  },
};
