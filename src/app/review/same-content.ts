/**
 * Parts of one content: a copy that somebody left. In a source that adds up its rows count once for each, and where only the newest part
 * counts it may bring back an older export.
 */
import type { ReadKind, ReadPart } from '../../core/buffer.ts';
import { accumulates } from '../../core/guard/guard.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { shellWord } from '../../core/text.ts';
import type { Dependencies } from '../dependencies.ts';
import { type DatedPart, isNewer } from '../read/carried.ts';

const warningsMax = 20;

/** What people are told of it. Nothing is held: two equal files may be meant. */
export function sameContentWarnings(
  { buffer }: Pick<Dependencies, 'buffer'>,
  { name, mapping }: SourceSettings,
  kind: ReadKind,
): readonly string[] {
  const back = broughtBack(buffer, name, kind);
  if (back !== undefined || !accumulates(mapping)) return back ?? [];
  const known = (buffer.reads.parts(name, kind) ?? []).filter((part) => part.kind === 'part' && part.hash !== '');
  const alike = [...Map.groupBy(known, ({ hash }) => hash).values()].filter(
    (parts) => parts.length > 1 && parts.some(({ carried }) => !carried),
  );
  const counted = alike.filter(([first]) => buffer.parts.earliestMonth([first!.id]) !== undefined);
  const more = counted.length - warningsMax;
  const shown = counted.slice(0, warningsMax).map((parts) => warningOf(name, parts));
  return more > 0 ? [...shown, `and ${more} more of files that are there twice`] : shown;
}

interface DatedContent extends DatedPart {
  readonly hash: string;
}

/** Where only the newest part counts: it has the content of an older one, and another content came between them. */
function broughtBack({ reads, parts }: Dependencies['buffer'], source: string, kind: ReadKind): [string] | undefined {
  const seen = parts.seen(source);
  const counting = (reads.parts(source, kind) ?? []).find((part) => part.kind === 'part' && !part.carried);
  const now = counting && seen.get(counting.name);
  if (counting === undefined || now === undefined || now.hash !== counting.hash) return undefined;
  const { name } = counting;
  const files = [...seen].map(([file, { hash, revisedAtMs }]): DatedContent => ({ name: file, hash, revisedAtMs }));
  // What is newer was not read, and does not count.
  const older = files.filter((file) => !isNewer(file, { name, revisedAtMs: now.revisedAtMs }));
  // However often a content was copied, it is as old as its earliest file.
  const contents = [...Map.groupBy(older, ({ hash }) => hash).values()].map(earliest);
  const [original, latest] = [contents.find(({ hash }) => hash === now.hash)!, contents.reduce(newer)];
  if (latest.hash === now.hash) return undefined;
  const forget = `"driver-sync forget ${source} ${shellWord(name)}"`;
  return [
    `${name} counts, which has the content of ${original.name}, and ${latest.name} came between them: if it is a copy, remove it, and ${forget} goes back to ${latest.name}`,
  ];
}

function earliest(files: readonly DatedContent[]): DatedContent {
  return files.reduce((first, file) => (isNewer(first, file) ? file : first));
}

function newer(a: DatedContent, b: DatedContent): DatedContent {
  return isNewer(b, a) ? b : a;
}

/** The shortest name is most likely that of the original: `a.csv` beside `a (1).csv` and `Copy of a.csv`. */
function warningOf(source: string, parts: readonly ReadPart[]): string {
  const namesOf = (isCarried: boolean): readonly string[] =>
    parts.flatMap(({ name, carried }) => (carried === isCarried ? [name] : [])).toSorted((a, b) => a.length - b.length);
  const [there, gone] = [namesOf(false), namesOf(true)];
  const [original = '', copy = '', ...others] = there;
  const times = parts.length === 2 ? 'twice' : `${parts.length} times`;
  if (gone.length > 0) {
    const also = gone.length > 1 ? ` and ${gone.length - 1} more` : '';
    return `${gone[0]}${also} is gone and carried, and ${original} has its content: its rows count ${times}; "driver-sync forget ${source} ${shellWord(gone[0]!)}" drops what is carried`;
  }
  if (others.length === 0) return `${copy} has the same content as ${original}: its rows count twice`;
  return `${copy} and ${others.length} more have the same content as ${original}: its rows count ${times}`;
}
