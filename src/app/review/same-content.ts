/**
 * Parts of one content: a copy that somebody left. In a source that adds up its rows count once for each, and where only the newest part
 * counts it may bring back an older export.
 */
import type { ReadKind, ReadPart } from '../../core/buffer.ts';
import { accumulates } from '../../core/guard/guard.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { shellWord } from '../../core/text.ts';
import type { Dependencies } from '../dependencies.ts';

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

/** Where only the newest part counts: it has the content of an older one, and another one came between them. */
function broughtBack({ reads, parts }: Dependencies['buffer'], source: string, kind: ReadKind): [string] | undefined {
  const seen = parts.seen(source);
  const newest = (reads.parts(source, kind) ?? []).find((part) => part.kind === 'part' && !part.carried);
  const now = newest && seen.get(newest.name);
  if (newest === undefined || now === undefined || now.hash !== newest.hash) return undefined;
  const older = [...seen]
    .map(([file, { hash, revisedAtMs }]) => ({ file, hash, revisedAtMs }))
    .filter(({ file, revisedAtMs }) => file !== newest.name && revisedAtMs <= now.revisedAtMs)
    .toSorted((a, b) => b.revisedAtMs - a.revisedAtMs);
  const same = older.findIndex(({ hash }) => hash === now.hash);
  const [between] = same < 0 ? [] : older;
  if (between === undefined || between.hash === now.hash) return undefined;
  const forget = `"driver-sync forget ${source} ${shellWord(newest.name)}"`;
  return [
    `${newest.name} counts, which has the content of ${older[same]!.file}, and ${between.file} came between them: if it is a copy, remove it, and ${forget} goes back to ${between.file}`,
  ];
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
