/** Metrics in the text format of Prometheus. Counters come from the ledger, so that a restart loses none. */
import { type AgentSigns, type StatusReport, statusReport } from '../app/ask/status-report.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { type PushRecord, cutShort } from '../core/ledger.ts';
import type { SourceReport } from '../core/report.ts';
import type { Answer } from './answer.ts';
import type { Watched } from './watched.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

const outcomes = ['acknowledged', 'refused', 'unreachable', 'unknown'] as const;
const states = ['accepted', 'unchanged', 'held', 'unread'] as const;

/** By name, behind `driver_sync_`. */
export const metricFamilies = {
  build_info: { type: 'gauge', help: 'The version of the agent and of its Node; always 1.' },
  last_pass_timestamp_seconds: { type: 'gauge', help: 'When the last pass ended.' },
  last_acknowledged_timestamp_seconds: { type: 'gauge', help: 'When the service last acknowledged a snapshot.' },
  next_push_timestamp_seconds: { type: 'gauge', help: 'When the next push is due.' },
  pass_duration_seconds: { type: 'gauge', help: 'How long the last pass took that ended since the agent was started.' },
  pushes_total: { type: 'counter', help: 'Pushes that have ended by what became of them, since the ledger was begun.' },
  push_duration_seconds: { type: 'gauge', help: 'How long the last push took.' },
  leader: { type: 'gauge', help: 'Whether this agent leads those that share its ledger.' },
  differs: {
    type: 'gauge',
    help: 'Whether this agent follows and would push other data than the one that leads, sees less, or has another config.',
  },
  leader_broken: {
    type: 'gauge',
    help: 'Whether passes of the agent that leads break, on whichever machine it is: nothing is pushed.',
  },
  notice_failures_total: { type: 'counter', help: 'Tries of notices that did not arrive.' },
  source_state: { type: 'gauge', help: 'The state of each source after the last pass: 1 for the one that it is in.' },
  source_rows: { type: 'gauge', help: 'Rows of the newest read of each source.' },
  source_rejects: { type: 'gauge', help: 'Rows of it that could not be used.' },
  source_last_read_timestamp_seconds: { type: 'gauge', help: 'The last pass in which each source could be read.' },
  carried_parts: { type: 'gauge', help: 'Parts of each source that are gone and whose data is carried.' },
  held: { type: 'gauge', help: 'Whether a candidate of the source waits for approval.' },
  snapshot_drivers: { type: 'gauge', help: 'Drivers of the last acknowledged snapshot.' },
  snapshot_points: { type: 'gauge', help: 'Points of the last acknowledged snapshot.' },
  snapshot_bytes: { type: 'gauge', help: 'Bytes of the last acknowledged snapshot before compression.' },
} as const;

type MetricName = keyof typeof metricFamilies;

export async function metrics(agent: Watched): Promise<Answer> {
  const signs = await agent.signs();
  const lines = await agent.open((deps) => exposition(agent, deps, signs));
  return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: `${lines.join('\n')}\n` };
}

/** Of the last push that has ended: a push that is under way stands before it. */
async function lastPushSeconds({ ledger }: Dependencies): Promise<number | undefined> {
  const newest = await ledger.pushes.newest(10);
  // One that is under way has not taken all its time yet, and one that was cut by a crash has the time of the restart.
  const last = newest.find(({ endedAtMs, detail }) => endedAtMs !== undefined && detail !== cutShort);
  return last?.endedAtMs === undefined ? undefined : (last.endedAtMs - last.atMs) / 1000;
}

async function exposition({ version, notes }: Watched, deps: Dependencies, signs: AgentSigns): Promise<string[]> {
  const report = await statusReport(deps, signs);
  const { pushes } = deps.ledger;
  const counts = await pushes.counts();
  const acknowledged = await pushes.lastAcknowledged(deps.address);
  const { lastPass, lastAcknowledged, nextPush, sources, shared } = report;
  const own = shared?.agents.find(({ isThis }) => isThis);
  return [
    ...family('build_info', [[{ version, node: process.versions.node }, 1]]),
    ...family('last_pass_timestamp_seconds', single(secondsOf(lastPass?.at))),
    ...family('last_acknowledged_timestamp_seconds', single(secondsOf(lastAcknowledged?.at))),
    ...family('next_push_timestamp_seconds', single(secondsOf(nextPush))),
    ...family('pass_duration_seconds', single(notes.lastMs === undefined ? undefined : notes.lastMs / 1000)),
    ...family(
      'pushes_total',
      outcomes.map((outcome) => [{ outcome }, counts.get(outcome) ?? 0]),
    ),
    ...family('push_duration_seconds', single(await lastPushSeconds(deps))),
    ...sourceMetrics(sources, notes.readAtMs),
    ...heldMetric(report),
    ...family('leader', single(shared && Number(shared.leader?.isThis === true))),
    ...family('differs', single(own && Number(own.differsFromLeader))),
    ...family(
      'leader_broken',
      single(shared && Number(shared.agents.some(({ leads, broken }) => leads && broken !== undefined))),
    ),
    ...family('notice_failures_total', single(report.telling?.failures ?? 0)),
    ...snapshotMetrics(acknowledged),
  ];
}

function sourceMetrics(sources: readonly SourceReport[], readAtMs: Watched['notes']['readAtMs']): string[] {
  const each = (of: (source: SourceReport) => number | undefined): Sample[] =>
    sources.flatMap((source) => {
      const value = of(source);
      return value === undefined ? [] : [[{ source: source.name }, value] as const];
    });
  return [
    ...family(
      'source_state',
      sources.flatMap(({ name, state }) =>
        states.map((one): Sample => [{ source: name, state: one }, Number(one === state)]),
      ),
    ),
    ...family(
      'source_rows',
      each(({ rows }) => rows),
    ),
    ...family(
      'source_rejects',
      each(({ rejects }) => rejects),
    ),
    ...family(
      'source_last_read_timestamp_seconds',
      each(({ name }) => (readAtMs[name] === undefined ? undefined : readAtMs[name] / 1000)),
    ),
    ...family(
      'carried_parts',
      each(({ carried }) => carried.length),
    ),
  ];
}

/** Also of sources that left the config, and of a first push that waits for approval. */
function heldMetric({ sources, held }: StatusReport): string[] {
  const names = new Set([...sources.map(({ name }) => name), ...held.map(({ source }) => source)]);
  const isHeld = new Set(held.map(({ source }) => source));
  return family(
    'held',
    [...names].map((source) => [{ source }, Number(isHeld.has(source))]),
  );
}

function snapshotMetrics(acknowledged: PushRecord | undefined): string[] {
  return (['drivers', 'points', 'bytes'] as const).flatMap((what) =>
    family(`snapshot_${what}`, single(acknowledged?.[what])),
  );
}

function secondsOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at) / 1000;
}

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

/** Nothing where there are no samples yet. */
function family(name: MetricName, samples: readonly Sample[]): string[] {
  if (samples.length === 0) return [];
  const { type, help } = metricFamilies[name];
  const whole = `driver_sync_${name}`;
  return [
    `# HELP ${whole} ${help}`,
    `# TYPE ${whole} ${type}`,
    ...samples.map(([labels, value]) => `${whole}${showLabels(labels)} ${value}`),
  ];
}

function showLabels(labels: Labels): string {
  const shown = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return shown.length === 0 ? '' : `{${shown.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
