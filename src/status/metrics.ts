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
    ...gauge('build_info', 'The version of the agent and of its Node; always 1.', [
      [{ version, node: process.versions.node }, 1],
    ]),
    ...gauge('last_pass_timestamp_seconds', 'When the last pass ended.', single(secondsOf(lastPass?.at))),
    ...gauge(
      'last_acknowledged_timestamp_seconds',
      'When the service last acknowledged a snapshot.',
      single(secondsOf(lastAcknowledged?.at)),
    ),
    ...gauge('next_push_timestamp_seconds', 'When the next push is due.', single(secondsOf(nextPush))),
    ...gauge(
      'pass_duration_seconds',
      'How long the last pass took that ended since the agent was started.',
      single(notes.lastMs === undefined ? undefined : notes.lastMs / 1000),
    ),
    ...counter(
      'pushes_total',
      'Pushes that have ended by what became of them, since the ledger was begun.',
      outcomes.map((outcome) => [{ outcome }, counts.get(outcome) ?? 0]),
    ),
    ...gauge('push_duration_seconds', 'How long the last push took.', single(await lastPushSeconds(deps))),
    ...sourceMetrics(sources, notes.readAtMs),
    ...heldMetric(report),
    ...gauge(
      'leader',
      'Whether this agent leads those that share its ledger.',
      single(shared && Number(shared.leader?.isThis === true)),
    ),
    ...gauge(
      'differs',
      'Whether this agent follows and would push other data than the one that leads, sees less, or has another config.',
      single(own && Number(own.differsFromLeader)),
    ),
    ...gauge(
      'leader_broken',
      'Whether passes of the agent that leads break, on whichever machine it is: nothing is pushed.',
      single(shared && Number(shared.agents.some(({ leads, broken }) => leads && broken !== undefined))),
    ),
    ...counter('notice_failures_total', 'Tries of notices that did not arrive.', single(report.telling?.failures ?? 0)),
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
    ...gauge(
      'source_state',
      'The state of each source after the last pass: 1 for the one that it is in.',
      sources.flatMap(({ name, state }) =>
        states.map((one): Sample => [{ source: name, state: one }, Number(one === state)]),
      ),
    ),
    ...gauge(
      'source_rows',
      'Rows of the newest read of each source.',
      each(({ rows }) => rows),
    ),
    ...gauge(
      'source_rejects',
      'Rows of it that could not be used.',
      each(({ rejects }) => rejects),
    ),
    ...gauge(
      'source_last_read_timestamp_seconds',
      'The last pass in which each source could be read.',
      each(({ name }) => (readAtMs[name] === undefined ? undefined : readAtMs[name] / 1000)),
    ),
    ...gauge(
      'carried_parts',
      'Parts of each source that are gone and whose data is carried.',
      each(({ carried }) => carried.length),
    ),
  ];
}

/** Also of sources that left the config, and of a first push that waits for approval. */
function heldMetric({ sources, held }: StatusReport): string[] {
  const names = new Set([...sources.map(({ name }) => name), ...held.map(({ source }) => source)]);
  const isHeld = new Set(held.map(({ source }) => source));
  return gauge(
    'held',
    'Whether a candidate of the source waits for approval.',
    [...names].map((source) => [{ source }, Number(isHeld.has(source))]),
  );
}

function snapshotMetrics(acknowledged: PushRecord | undefined): string[] {
  const of = (what: 'drivers' | 'points' | 'bytes', help: string): string[] =>
    gauge(`snapshot_${what}`, help, single(acknowledged?.[what]));
  return [
    ...of('drivers', 'Drivers of the last acknowledged snapshot.'),
    ...of('points', 'Points of the last acknowledged snapshot.'),
    ...of('bytes', 'Bytes of the last acknowledged snapshot before compression.'),
  ];
}

function secondsOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at) / 1000;
}

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

function gauge(name: string, help: string, samples: readonly Sample[]): string[] {
  return family({ name, help, type: 'gauge' }, samples);
}

function counter(name: string, help: string, samples: readonly Sample[]): string[] {
  return family({ name, help, type: 'counter' }, samples);
}

function family(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: 'gauge' | 'counter' },
  samples: readonly Sample[],
): string[] {
  if (samples.length === 0) return [];
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
