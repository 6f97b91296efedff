/** What scripts and people are told of a pass. The shapes are the contract of DESIGN section 2. */
import { type Changes, noChanges } from '../core/series/diff.ts';
import { pointCount } from '../core/series/packing.ts';
import type { PushRecord, ReadKind } from '../core/stores.ts';
import type { SourceRead } from './read/read-source.ts';
import type { DriverDeletes, Verdict } from './review/verdict.ts';
import type { PushReport } from './push/push.ts';
import type { Dependencies } from './dependencies.ts';

export interface SourceReport {
  readonly name: string;
  readonly state: 'accepted' | 'unchanged' | 'held' | 'unread';
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** Of a held candidate: what `approve` wants. */
  readonly digest?: string | undefined;
  /** Of a held candidate: false where no approval helps. */
  readonly approvable?: boolean;
  /** Of a held candidate: what it would delete, the first hundred drivers. */
  readonly deletes?: readonly DriverDeletes[];
  readonly parts: number;
  readonly rows: number;
  readonly rejects: number;
  readonly drivers: number;
  readonly points: number;
  readonly changes: Changes;
  /** Parts that are gone and whose data is carried. */
  readonly carried: readonly string[];
  /** Slips that do no harm: a driver with two paths, two drivers with one. */
  readonly warnings: readonly string[];
}

export interface PassReport {
  readonly at: string;
  readonly outcome: PushReport['outcome'];
  readonly exit: number;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly push?: PushSummary | undefined;
  readonly sources: readonly SourceReport[];
}

export interface PushSummary {
  readonly id: number;
  readonly digest: string;
  readonly drivers: number;
  readonly points: number;
  readonly bytes: number;
  readonly status?: number;
  readonly detail?: string;
}

export function pushSummary(push: PushRecord): PushSummary {
  const { id, digest, drivers, points, bytes, status, detail } = push;
  return {
    id,
    digest,
    drivers,
    points,
    bytes,
    ...(status === undefined ? {} : { status }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/** The exit code of a pass: the gravest of what applies (DESIGN section 2). */
export function passExit(
  push: PushReport,
  verdicts: readonly Verdict[],
  reads: readonly SourceRead[],
  deps: Dependencies,
): number {
  if (push.outcome === 'unreachable' || push.outcome === 'unknown') return 75;
  if (push.outcome === 'refused') return 5;
  const accepted = new Set(deps.buffer.acceptedSources());
  const isLeftOut = deps.settings.shouldDeleteMissing && deps.settings.sources.some(({ name }) => !accepted.has(name));
  if (push.outcome === 'blocked' || isLeftOut || verdicts.some(({ state }) => state === 'held')) return 4;
  const isCarried = reads.some((read) => read.state === 'read' && read.disappeared.length > 0);
  return isCarried || verdicts.some(({ state }) => state === 'unread') ? 3 : 0;
}

/** One source as it stands after a verdict. */
export function sourceReport(deps: Dependencies, verdict: Verdict): SourceReport {
  const { source, state, reason, hint, digest, changes, approvable, deletes } = verdict;
  const kind: ReadKind =
    state === 'held' && deps.buffer.readParts(source, 'candidate') !== undefined ? 'candidate' : 'accepted';
  const parts = deps.buffer.readParts(source, kind) ?? [];
  const shown = parts.filter((part) => part.kind === 'part');
  const sum = (of: (part: (typeof shown)[number]) => number): number =>
    shown.reduce((total, part) => total + of(part), 0);
  return {
    name: source,
    state,
    ...(reason === undefined ? {} : { reason }),
    ...(hint === undefined ? {} : { hint }),
    ...(digest === undefined ? {} : { digest }),
    ...(approvable === undefined ? {} : { approvable }),
    ...(deletes === undefined ? {} : { deletes }),
    parts: shown.length,
    rows: sum(({ rows }) => rows),
    // Of a source that was not read, the newest read's that were kept: a part with too many is why.
    rejects: state === 'unread' ? keptRejects(deps, source) : sum(({ rejects }) => rejects),
    ...readSummary(deps, source, kind),
    changes,
    carried: shown.filter(({ carried }) => carried).map(({ name }) => name),
  };
}

function keptRejects({ buffer }: Dependencies, source: string): number {
  return [...buffer.rejects(source)].length;
}

interface ReadSummary {
  readonly drivers: number;
  readonly points: number;
  readonly warnings: readonly string[];
}

const warningsMax = 20;

/** Counts a read's drivers, once: a pass in which nothing changed must not walk them again. */
function readSummary(deps: Dependencies, source: string, kind: ReadKind): ReadSummary {
  const { buffer } = deps;
  const key = JSON.stringify([kind, buffer.readParts(source, kind)?.map(({ id }) => id), buffer.revision()]);
  const known = JSON.parse(buffer.fact(`summary:${source}`) ?? '[]') as [string?, ReadSummary?];
  if (known[0] === key && known[1] !== undefined) return known[1];
  const warnings: string[] = [];
  const byPath = new Map<string, string>();
  let drivers = 0;
  let points = 0;
  for (const driver of buffer.drivers(source, kind)) {
    drivers++;
    points += pointCount(driver.points);
    if (driver.otherPath !== undefined) {
      warnings.push(
        `driver "${driver.id}" has two paths, ${driver.otherPath} and ${driver.path}; the latest reading's is used`,
      );
    }
    const twin = byPath.get(driver.path);
    if (twin === undefined) byPath.set(driver.path, driver.id);
    else warnings.push(`drivers "${twin}" and "${driver.id}" have one path, ${driver.path}`);
  }
  const more = warnings.length - warningsMax;
  const shown = more > 0 ? [...warnings.slice(0, warningsMax), `and ${more} more`] : warnings;
  const summary = { drivers, points, warnings: shown };
  buffer.setFact(`summary:${source}`, JSON.stringify([key, summary]));
  return summary;
}

/** A source of which nothing is known in this pass. */
export function unjudged(read: SourceRead): Verdict {
  const source = read.settings.name;
  if (read.state === 'unread')
    return { source, state: 'unread', reason: read.reason, hint: read.hint, changes: noChanges };
  return { source, state: 'unchanged', changes: noChanges };
}
