import { judgeChecked } from '../app/ask/check-judgement.ts';
import { readKnown } from '../compose/known.ts';
import { lookupReader, sourceOpener, systemClock } from '../compose/parts.ts';
import { type TriedChannel, probeDestination, tryChannels } from '../compose/probe.ts';
import { hasState, openFirstScratch, openScratch } from '../compose/scratch.ts';
import { type Refusal, type SourceCheck, checkSource } from '../app/ask/check.ts';
import { exposureWarnings, fileMode } from '../config/exposure.ts';
import type { PlacedDiagnostic } from '../config/diagnostics.ts';
import { type LoadedConfig, locateDiagnostics } from '../config/load.ts';
import { troubleOfState } from '../compose/state.ts';
import { type AgentError, isAgentError } from '../core/errors.ts';
import type { Probe } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { wholePath } from './working-directory.ts';
import { openStop } from './ending.ts';
import { type Context, answer, commandLog, load, sourcesNamed, warnOfState } from './context.ts';
import { problemLine } from './failing.ts';
import { foreignState } from './foreign-state.ts';
import { showFindings } from './findings.ts';
import { tinted } from './output.ts';
import { count } from '../core/text.ts';
import { table } from './text.ts';

interface CheckAnswer {
  readonly ok: boolean;
  readonly problems: readonly PlacedDiagnostic[];
  readonly warnings: readonly string[];
  readonly sources: readonly SourceCheck[];
  /** With `--destination`: what holds of the address. */
  readonly destination?: Probe | undefined;
  /** With `--notify`: what came of a test message to each channel. */
  readonly notify?: readonly TriedChannel[] | undefined;
}

export interface CheckOptions {
  /** Only these; none: all. */
  readonly sources?: readonly string[];
  readonly offline?: boolean;
  readonly destination?: boolean;
  readonly notify?: boolean;
}

/** Validates the config and looks into every source, and at the address if told to. Prints its own JSON whatever it finds. */
export async function check(context: Context, options: CheckOptions): Promise<number> {
  const loaded = loadOrMissing(context);
  const { settings } = loaded;
  const { sources: names = [] } = options;
  const looked = settings === undefined || names.length === 0 ? settings?.sources : sourcesNamed(settings, names);
  const trouble = settings === undefined ? undefined : troubleOfState(settings);
  const foreign = settings === undefined || trouble !== undefined ? undefined : foreignState(context, settings);
  if (settings !== undefined && trouble === undefined) warnOfState(settings);
  const isProbed = settings !== undefined && options.destination === true;
  const isTold = settings !== undefined && options.notify === true;
  const [judged, probed, notify] = await Promise.all([
    settings === undefined
      ? { sources: [], exit: 0 }
      : checkSources(context, settings, { looked, isOffline: options.offline === true }),
    isProbed ? probe(context, settings) : ({} satisfies Probed as Probed),
    isTold ? tryChannels(settings, commandLog(context)) : undefined,
  ]);
  const { sources } = judged;
  const problems = [
    ...loaded.problems,
    ...(settings === undefined || trouble?.forAll !== true ? [] : stateProblem(settings, trouble.error)),
    ...(settings === undefined || foreign === undefined ? [] : stateProblem(settings, foreign)),
    ...(settings === undefined ? [] : sourceProblems(settings, sources)),
    ...(probed.problems ?? []),
  ];
  const exit = checkExit({ problems, judged, destination: probed.destination, notify });
  const report: CheckAnswer = {
    ok: exit === 0,
    problems,
    warnings: [
      ...loaded.exposed.map(problemLine),
      ...(settings === undefined ? [] : exposureWarnings(settings, fileMode)),
      ...(trouble?.forAll === false ? [`${trouble.error.message}: run and sync would end with 78 as this user`] : []),
      ...(probed.warnings ?? []),
      ...(notify?.length === 0 ? ['notify names nobody, so there is nobody to send a test message to'] : []),
    ],
    sources: options.offline === true ? sources.filter(({ error }) => error !== undefined) : sources,
    ...(probed.destination === undefined ? {} : { destination: probed.destination }),
    ...(notify === undefined ? {} : { notify }),
  };
  answer(context, report, () => showCheck(report, { offline: options.offline === true, names }));
  return exit;
}

/** A state directory that nobody can use. One of another user is no problem of the config: that one may run the agent. */
function stateProblem(
  { file }: Settings,
  { message, hint = 'name another with state:' }: AgentError,
): PlacedDiagnostic[] {
  return locateDiagnostics(file, [{ path: ['state'], message, hint }]);
}

function checkExit({
  problems,
  judged: { sources, exit },
  destination,
  notify,
}: Pick<CheckAnswer, 'problems' | 'destination' | 'notify'> & { readonly judged: Judged }): number {
  if (problems.length > 0 || exit === 78) return 78;
  if (exit !== 0) return exit;
  if (destination?.outcome === 'unreachable' || destination?.outcome === 'unknown') return 75;
  if (notify?.some(({ ok }) => !ok) === true) return 75;
  if (destination?.outcome === 'refused') return 5;
  if (sources.some(({ refusals }) => refusals.length > 0)) return 4;
  return sources.some(({ error }) => error !== undefined) ? 3 : 0;
}

interface Probed {
  readonly destination?: Probe | undefined;
  readonly problems?: readonly PlacedDiagnostic[];
  readonly warnings?: readonly string[];
}

/** Tries the address. A token or CA file that cannot be used is a problem of the config. */
async function probe(context: Context, settings: Settings): Promise<Probed> {
  const { version, env } = context;
  try {
    const options = { log: commandLog(context), version, env };
    const destination = await probeDestination(settings, options, new AbortController().signal);
    if (destination !== undefined) return { destination };
    return { warnings: ['destination is the emulator, which only run and sync start: there is no address to try'] };
  } catch (error) {
    if (!isAgentError(error, 'config.invalid')) throw error;
    const { message, hint = 'see destination in docs/CONFIG.md' } = error;
    return { problems: locateDiagnostics(settings.file, [{ path: ['destination'], message, hint }]) };
  }
}

/** A config that is not there is the first thing that `check` may find. */
function loadOrMissing(context: Context): Pick<LoadedConfig, 'settings' | 'problems' | 'exposed'> {
  try {
    return load(context, 'required');
  } catch (error) {
    if (!isAgentError(error, 'config.missing') || context.options.json !== true) throw error;
    const { message, hint } = error;
    const named = context.options.config ?? context.env['DRIVER_SYNC_CONFIG'] ?? '';
    const file = named === '' ? '' : wholePath(context, named);
    const problem = { file, line: 1, column: 1, path: '', message, ...(hint === undefined ? {} : { hint }) };
    return { problems: [problem], exposed: [] };
  }
}

interface Judged {
  readonly sources: readonly SourceCheck[];
  /** Not 0 where no agent could judge them. */
  readonly exit: number;
}

async function checkSources(
  context: Context,
  settings: Settings,
  {
    looked = settings.sources,
    isOffline,
  }: { readonly looked?: Settings['sources'] | undefined; readonly isOffline: boolean },
): Promise<Judged> {
  const deps = {
    clock: systemClock,
    openSource: sourceOpener(settings),
    readLookups: lookupReader(settings),
    isOffline,
    known: readKnown(settings),
    timezone: settings.timezone,
    maxRejects: settings.guard.maxRejects,
  };
  const signal = new AbortController().signal;
  const checks = await Promise.all(looked.map((source) => checkSource(deps, source, signal)));
  if (isOffline || checks.length === 0) return { sources: checks, exit: 0 };
  try {
    const log = commandLog(context, 'error');
    using stop = openStop();
    await using scratch = hasState(settings) ? await openScratch(settings, log) : await openFirstScratch(settings, log);
    return { sources: await judgeChecked(scratch.deps, checks, stop.signal), exit: 0 };
  } catch (error) {
    // A state of another user or version, or a ledger that cannot be reached, must not keep a check from saying what it has read.
    if (!isAgentError(error) || !/^(state|ledger)\./.test(error.code)) throw error;
    const warning = `it is not known whether sync would accept it: ${error.message}`;
    const sources = checks.map((one) => ({ ...one, warnings: [...one.warnings, warning] }));
    // The state is for another user to read; the ledger is the same for all.
    return { sources, exit: error.code.startsWith('ledger.') ? error.exit : 0 };
  }
}

/** What `check` finds of sources, without the address. */
export interface Looked {
  readonly problems: readonly PlacedDiagnostic[];
  readonly sources: readonly SourceCheck[];
  readonly exit: number;
}

export async function lookAround(context: Context, settings: Settings): Promise<Looked> {
  const judged = await checkSources(context, settings, { isOffline: false });
  const { sources } = judged;
  const problems = sourceProblems(settings, sources);
  return { problems, sources, exit: checkExit({ problems, judged }) };
}

/** A column that is not there, or a test that fails, is a problem of the config: shown where it is asked for. */
function sourceProblems(settings: Settings, sources: readonly SourceCheck[]): PlacedDiagnostic[] {
  const findings = sources.flatMap(({ name, problems }) =>
    problems.map(({ path, message, hint }) => ({ path: ['sources', name, ...path], message, hint })),
  );
  return locateDiagnostics(settings.file, findings);
}

function showCheck(
  { problems, warnings, sources, destination, notify }: CheckAnswer,
  { offline, names }: { readonly offline: boolean; readonly names: readonly string[] },
): string[] {
  const lines = [...problems.map(problemLine), ...warnings.map((warning) => `note: ${warning}`)];
  for (const source of sources) lines.push(...showSource(source));
  if (destination !== undefined) {
    lines.push('destination');
    for (const { step, holds, text } of destination.steps) {
      lines.push(`  ${step.padEnd(10)}  ${tinted(holds ? 'ok' : 'fails')}: ${text}`);
    }
  }
  if (notify !== undefined && notify.length > 0) {
    lines.push('notify');
    for (const { channel, ok, text } of notify) lines.push(`  ${channel}: ${tinted(ok ? 'ok' : 'fails')}: ${text}`);
  }
  if (problems.length > 0)
    lines.push(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in the config`);
  else lines.push(`the config is valid${lookedNote(offline, names)}${foundNote({ sources, destination, notify })}`);
  return lines;
}

/** What one source gives, for a person. */
export function showSource(source: SourceCheck): string[] {
  const lines = [`source ${source.name}${source.problems.length > 0 ? ': see its problems above' : ''}`];
  if (source.error !== undefined) lines.push(...showRefusal(tinted('unread', 'cannot be read'), source.error));
  for (const refusal of source.refusals)
    lines.push(...showRefusal(tinted('held', 'sync would not accept it'), refusal));
  lines.push(...showFindings(source.findings ?? []).map((line) => `  ${line}`));
  const more = source.readingsRead - source.readings.length;
  if (source.readings.length > 0) lines.push(...showReadings(source.readings).map((line) => `  ${line}`));
  if (more > 0)
    lines.push(`  and ${count(more, 'more reading')}${source.isWhole ? '' : ' of the rows that were read'}`);
  for (const { part, row, reason } of source.rejects) lines.push(`  reject: ${part} row ${row}: ${reason}`);
  for (const warning of source.warnings) lines.push(`  note: ${warning}`);
  return lines;
}

function showRefusal(what: string, { message, hint }: Refusal): string[] {
  return [`  ${what}: ${message}`, ...(hint === undefined ? [] : [`    ${hint}`])];
}

function lookedNote(isOffline: boolean, names: readonly string[]): string {
  if (isOffline) return '; no source was opened';
  return names.length === 0 ? '' : `; only ${someNames(names)} ${names.length === 1 ? 'was' : 'were'} looked at`;
}

const namesShownMax = 3;

/** `a, b, c and 4 more` */
function someNames(names: readonly string[]): string {
  const shown = names.slice(0, namesShownMax).join(', ');
  return names.length > namesShownMax ? `${shown} and ${names.length - namesShownMax} more` : shown;
}

function foundNote({ sources, destination, notify }: Pick<CheckAnswer, 'sources' | 'destination' | 'notify'>): string {
  const unread = sources.filter(({ error }) => error !== undefined).map(({ name }) => name);
  const refused = sources.filter(({ refusals }) => refusals.length > 0).map(({ name }) => name);
  const notes = [
    ...(unread.length === 0 ? [] : [`${count(unread.length, 'source')} cannot be read now: ${someNames(unread)}`]),
    ...(refused.length === 0
      ? []
      : [`sync would not accept ${count(refused.length, 'source')}: ${someNames(refused)}`]),
    ...(destination === undefined || destination.outcome === 'acknowledged' ? [] : ['nothing could be pushed now']),
    ...(notify?.some(({ ok }) => !ok) === true ? ['somebody could not be told'] : []),
  ];
  return notes.length === 0 ? '' : `, but ${notes.join('; ')}`;
}

function showReadings(readings: SourceCheck['readings']): string[] {
  return table(
    [
      ['driver', 'left'],
      ['path', 'left'],
      ['month', 'left'],
      ['value', 'right'],
    ],
    readings.map(({ driver, path, month, value }) => [driver, path.join(' / '), month, value]),
  );
}
