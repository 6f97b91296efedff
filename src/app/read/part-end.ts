/**
 * A text file without a line end at its end may be half a file, cut in the middle of a number. How the other parts of its
 * source end tells; where nothing tells, it has to be quiet for longer than other files.
 */
import { AgentError } from '../../core/errors.ts';
import type { Part } from '../../core/model.ts';
import type { Source } from '../../core/ports.ts';
import type { Dependencies } from '../dependencies.ts';
import type { PartFacts } from './accepted-parts.ts';

/** A pass waits no longer than this for files without a line end; the next one looks again. */
const waitMaxMs = 600_000;
/** For as long as a daemon's loop may be silent in any case. */
const sliceMs = 60_000;

const endHint = 'was it written to its end? if it is whole, end its last line, or say lineEnd: any';

/** A part and how its text ends; `undefined` where that says nothing. */
export interface EndedPart extends Part {
  readonly endsWithLineEnd: boolean | undefined;
}

/** What a text file without a line end has to do before it counts as whole. */
export interface QuietNeeded {
  readonly part: Part;
  readonly quietMs: number;
  readonly neededMs: number;
}

interface EndFacts {
  readonly source: Source;
  /** Those of accepted parts of the same place. */
  readonly accepted: readonly PartFacts[];
  /** Every part that counts. */
  readonly ends: readonly EndedPart[];
  /** Every part that the source shows. */
  readonly listed: readonly Part[];
}

/**
 * Judges the end of one part that has no line end: `undefined` where it is known to be whole.
 * @throws AgentError `part.unreadable` where other parts say that it is half a file
 */
export async function judgeEnd(part: Part, facts: EndFacts, signal: AbortSignal): Promise<QuietNeeded | undefined> {
  const { source, accepted } = facts;
  refuseCut(part, accepted);
  const own = accepted.find(({ name }) => name === part.name);
  // It was accepted without one: this is how it is written.
  if (own?.endsWithLineEnd === false) return undefined;
  const other = await otherWithEnd(part, facts, signal);
  if (other !== undefined) throw cut(part, `${other} of the same source has one`);
  const end = await source.textEnd?.(part, signal);
  if (end === undefined || end.endsWithLineEnd) return undefined;
  return { part, quietMs: end.quietMs, neededMs: end.quietNeededMs };
}

/** @throws AgentError `part.unreadable` where a part without a line end had one when it was accepted */
export function refuseCut(part: Part, accepted: readonly PartFacts[]): void {
  const own = accepted.find(({ name }) => name === part.name);
  if (own?.endsWithLineEnd === true) throw cut(part, 'its accepted read had one');
}

function cut(part: Part, why: string): AgentError {
  return new AgentError('part.unreadable', `${part.name}: it ends without a line end, and ${why}`, { hint: endHint });
}

/** Another part that ends with a line end: one that counts, one that was accepted, or an older one that is still there. */
async function otherWithEnd(
  part: Part,
  { source, accepted, ends, listed }: EndFacts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const known = [...ends, ...accepted];
  const other = known.find(({ name, endsWithLineEnd }) => name !== part.name && endsWithLineEnd === true);
  if (other !== undefined) return other.name;
  const judged = new Set(ends.map(({ name }) => name));
  for (const older of listed) {
    if (judged.has(older.name)) continue;
    if ((await source.textEnd?.(older, signal))?.endsWithLineEnd === true) return older.name;
  }
  return undefined;
}

/** Waits for files without a line end, as long as a pass may, and knows which of them stood still meanwhile. */
export class QuietWait {
  readonly #deps: Pick<Dependencies, 'clock' | 'log' | 'observe'>;
  #waitedMs = 0;
  /** Versions that stood still for as long as they have to, by part. */
  readonly #still = new Map<string, string>();

  constructor(deps: Pick<Dependencies, 'clock' | 'log' | 'observe'>) {
    this.#deps = deps;
  }

  isStill({ name, version }: Part): boolean {
    return this.#still.get(name) === version;
  }

  /** @throws AgentError `part.changing` where a pass cannot wait that long */
  async until(needed: readonly QuietNeeded[], signal: AbortSignal): Promise<void> {
    const { clock, log, observe } = this.#deps;
    const longest = needed.reduce((a, b) => (b.neededMs - b.quietMs > a.neededMs - a.quietMs ? b : a));
    let leftMs = Math.ceil(longest.neededMs - longest.quietMs);
    const seconds = Math.round(longest.neededMs / 1000);
    const why = `${longest.part.name} ends without a line end and may be half a file: it is read once it was quiet for ${seconds} s`;
    if (this.#waitedMs + leftMs > waitMaxMs) throw new AgentError('part.changing', why, { hint: endHint });
    log.warn(why, { waitMs: leftMs });
    this.#waitedMs += leftMs;
    for (; leftMs > 0; leftMs -= sliceMs) {
      observe({ kind: 'waiting', ms: leftMs, why });
      await clock.sleep(Math.min(leftMs, sliceMs), signal);
    }
    for (const { part } of needed) this.#still.set(part.name, part.version);
  }
}
