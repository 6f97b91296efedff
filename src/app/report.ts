/** Makes the report of a pass. */
import { type RunSummary, summarizeRun } from '../core/series/compare.ts';
import type { PushSummary, SourceReport } from '../core/report.ts';
import { noChanges } from '../core/series/diff.ts';
import type { ReadKind } from '../core/buffer.ts';
import type { PushRecord } from '../core/ledger.ts';
import type { SourceRead } from './read/read-source.ts';
import type { Verdict } from './review/verdict.ts';
import type { PushReport } from './push/push-report.ts';
import { forecastWarnings } from './forecast-warning.ts';
import { tieWarnings } from './tie-warnings.ts';
import type { Dependencies } from './dependencies.ts';

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

/** The exit code of a pass: the gravest of what applies. */
export function passExit(
  push: PushReport,
  verdicts: readonly Verdict[],
  reads: readonly SourceRead[],
  deps: Dependencies,
): number {
  if (push.outcome === 'unreachable' || push.outcome === 'unknown') return 75;
  if (push.outcome === 'refused') return 5;
  const accepted = new Set(deps.buffer.reads.acceptedSources());
  const isLeftOut = deps.settings.shouldDeleteMissing && deps.settings.sources.some(({ name }) => !accepted.has(name));
  if (push.outcome === 'blocked' || isLeftOut || verdicts.some(({ state }) => state === 'held')) return 4;
  const isCarried = reads.some((read) => read.state === 'read' && read.disappeared.length > 0);
  return isCarried || verdicts.some(({ state }) => state === 'unread') ? 3 : 0;
}

/** One source as it stands after a verdict. */
export function sourceReport(deps: Dependencies, verdict: Verdict): SourceReport {
  const { source, state, reason, hint, digest, changes, approvable, deletes, findings } = verdict;
  const kind: ReadKind =
    state === 'held' && deps.buffer.reads.parts(source, 'candidate') !== undefined ? 'candidate' : 'accepted';
  const parts = deps.buffer.reads.parts(source, kind) ?? [];
  const { warnings, ...summary } = readSummary(deps, source, kind);
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
    // A source is not read where a part has too many rejects: those of its newest read are shown.
    rejects: state === 'unread' ? rejectedRows(deps.buffer, source) : sum(({ rejects }) => rejects),
    ...summary,
    warnings: [...warnings, ...(verdict.warnings ?? [])],
    changes,
    ...(findings === undefined ? {} : { findings }),
    carried: shown.filter(({ carried }) => carried).map(({ name }) => name),
  };
}

/** Rejected rows of the newest read of each part, also those that are not kept. */
export function rejectedRows({ rejects }: Pick<Dependencies['buffer'], 'rejects'>, source?: string): number {
  return rejects.counts(source).reduce((sum, { total }) => sum + total, 0);
}

function readSummary(deps: Dependencies, source: string, kind: ReadKind): Omit<RunSummary, 'ties' | 'latest'> {
  const { buffer, settings } = deps;
  const { ties, warnings, latest, ...size } = buffer.reads.summary(source, kind) ?? summarize(deps, source, kind);
  const mapping = settings.sources.find(({ name }) => name === source)?.mapping;
  const context = {
    rules: (mapping?.drivers ?? []).map(({ rule }) => rule),
    partName: (part: number) => buffer.parts.origin(part).name,
    timezone: settings.timezone,
  };
  const more = [...tieWarnings(ties, context), ...forecastWarnings(deps, source, { latest })];
  return { ...size, warnings: [...warnings, ...more] };
}

function summarize({ buffer }: Dependencies, source: string, kind: ReadKind): RunSummary {
  const summary = summarizeRun(buffer.reads.drivers(source, kind));
  buffer.reads.keepSummary(source, kind, summary);
  return summary;
}

/** A source that this pass did not judge. */
export function unjudged(read: SourceRead): Verdict {
  const source = read.settings.name;
  if (read.state === 'unread')
    return { source, state: 'unread', reason: read.reason, hint: read.hint, changes: noChanges };
  return { source, state: 'unchanged', changes: noChanges };
}
