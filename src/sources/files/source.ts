/** Sources whose parts are files. */
import { asColumns } from '../../core/mapping/row-coder.ts';
import type { Source } from '../../core/ports.ts';
import { type PlanRanges, foldInThreads } from '../formats/scan/fold.ts';
import { type SourceContext, needsOf } from '../kind.ts';
import type { FileSettings, TextSettings } from './keys.ts';
import { listParts } from './list-parts.ts';
import { type FilePlace, placeOf } from './place.ts';
import { type FormatReader, type PartFolder, foldPart, hashPart, readPart, readTextEnd } from './read-part.ts';
import { watchGlobs } from './watch.ts';

/** The source whose parts are files that `read` reads. */
export function fileSource(settings: FileSettings, context: SourceContext, read: FormatReader): Source {
  return sourceAt(placeOf(settings, context), context, read);
}

function sourceAt(place: FilePlace, context: SourceContext, read: FormatReader): Source {
  return {
    newestOnly: place.newestOnly,
    parts: (signal) => listParts(place, signal),
    rows: (part, signal) => asColumns(readPart(place, part, signal, read), needsOf(context)),
    hash: (part, signal) => hashPart(place, part, signal),
    ...looksAt(place),
  };
}

/** When such a place is worth looking at: another machine is asked when the source is due, and sends no events. */
export function looksAt({ globs, remotes, names }: FilePlace): Pick<Source, 'isExpensive' | 'nowCalled' | 'watch'> {
  return {
    isExpensive: remotes.length > 0,
    ...(names.now && { nowCalled: names.now }),
    ...(globs.length > 0 && { watch: (changed: () => void) => watchGlobs(globs, changed) }),
  };
}

/** The source whose parts are files of lines. @param ranges for large ones, which are folded by threads where the context has some */
export function textSource(
  settings: TextSettings,
  context: SourceContext,
  read: FormatReader,
  ranges?: PlanRanges,
): Source {
  const place = placeOf(settings, context);
  const knowsEnd = settings.lineEnd !== 'any';
  const { threads } = context;
  const folded: Pick<Source, 'fold'> =
    ranges === undefined || threads === undefined || threads.count === 0
      ? {}
      : {
          fold: (part, job, signal) => {
            const work: PartFolder = (file) => foldInThreads(file, ranges, job, { ...threads, signal });
            return foldPart(place, part, signal, { work, knowsEnd });
          },
        };
  if (!knowsEnd) {
    const source = sourceAt(place, context, async function* withoutLineEnd(file) {
      const { format } = yield* read(file);
      return { format };
    });
    return { ...source, ...folded };
  }
  return {
    ...sourceAt(place, context, read),
    ...folded,
    textEnd: (part, signal) => readTextEnd(place, part, signal, settings.encoding),
  };
}
