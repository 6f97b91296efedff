import { type AgentWithSigns, openAgent } from '../compose/agent.ts';
import { openSupervisor, systemClock } from '../compose/parts.ts';
import { stateWarning, watchRequests } from '../compose/state.ts';
import { openStatusPage } from '../compose/status-page.ts';
import { passAllowanceMs, pushAllowanceMs, runDaemon } from '../app/loop/daemon.ts';
import type { PassReport } from '../core/report.ts';
import { Waker } from '../app/loop/waker.ts';
import type { Dependencies, PassEvent } from '../app/dependencies.ts';
import { isAgentError } from '../core/errors.ts';
import type { Log, Supervisor } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type Context, commandLog, loadSettings } from './context.ts';
import { problemLine } from './failing.ts';
import { embedEmulator } from './embedded.ts';
import { openEnding } from './ending.ts';
import { refuseForeignState } from './foreign-state.ts';
import { count } from '../core/text.ts';
import { print, talkOnly } from './output.ts';
import { PassLog } from './pass-log.ts';
import { previewReload } from './plan.ts';
import { onRequests } from './requests.ts';
import { statusText } from './supervised.ts';

const startPauseMs = 60_000;

/** The daemon, until SIGTERM or SIGINT. */
export async function run(context: Context): Promise<number> {
  const settings = loadSettings(context, 'required');
  refuseForeignState(context, settings);
  const log = commandLog(context, 'info');
  const warning = stateWarning(settings);
  if (warning !== undefined) log.warn(warning);
  await using emulator = await embedEmulator(settings);
  const { env, version } = context;
  await using supervisor = openSupervisor({ env, log, monotonicMs: () => systemClock.monotonicMs() });
  using ending = openEnding('push.recorded', (signal, isPushing) => {
    supervisor?.stopping();
    log.info(isPushing ? 'ending: waiting for the push to be answered' : 'ending', { signal });
  });
  talkOnly();
  const observe = (event: PassEvent): void => {
    ending.note(event);
    const allowanceMs = event.kind.startsWith('push.') ? pushAllowanceMs : passAllowanceMs;
    agent?.beat(allowanceMs(agent.deps.settings));
  };
  const waker = new Waker(systemClock);
  // Who leads concerns the loop as much as a file that changed.
  const changed = (what: 'lead' | 'request' | 'pass'): void => waker.wake(what === 'lead' ? 'source' : what);
  const emulatorUrl = emulator?.url;
  const options = { command: 'run', log, env, version, emulatorUrl, observe, supervisor, changed } as const;
  onRequests((what) => waker.wake(what));
  process.on('SIGUSR1', () => log.warn('SIGUSR1 does nothing: SIGUSR2 asks for a pass'));
  const waits = (why: string): void => supervisor?.status(`cannot start yet: ${why}`);
  const agent = await openWhenPossible(log, { signal: ending.signal, waits }, () => openAgent(settings, options));
  if (agent === undefined) return 0;
  await using _agent = agent;
  const fileDigest = (): string | undefined => loadAgain(settings, context).settings?.digest;
  await using page = await openStatusPage(settings, { log, version, fileDigest, agent });
  // Only now is it sure that it runs.
  if (emulator !== undefined) {
    const { url } = emulator;
    print([`emulator: ${url}`, `console:  ${url}/console`, `drivers:  ${url}/_emulator/drivers`]);
  }
  using _requests = watchRequests(settings, () => waker.wake('request'), log);
  log.info('driver-sync runs', {
    version: context.version,
    config: settings.file,
    state: settings.state,
    sources: settings.sources.length,
  });
  const reload = async (): Promise<Settings | undefined> => {
    supervisor?.reloading();
    const next = await reloadSettings(context, { log, current: agent.deps.settings, signal: ending.signal });
    if (next !== undefined) await page.reconfigure(next, 'wanted');
    return next;
  };
  const passLog = new PassLog(log);
  const passed = async (report: PassReport, tookMs: number): Promise<void> => {
    passLog.note(report);
    page.passed(report, tookMs);
    await showStatus(agent.deps, { report, supervisor, log });
    if (emulator !== undefined && report.outcome === 'acknowledged') {
      print(`pushed:   ${count(report.push?.drivers ?? 0, 'driver')} to the emulator; Ctrl+C ends`);
    }
  };
  const followed = page.passed.bind(page);
  await runDaemon({ agent, waker, reload, signal: ending.signal, passed, followed, broke: () => page.broke() });
  log.info('driver-sync ends');
  return 0;
}

/** A line that cannot be made now is no reason to call the pass broken. */
async function showStatus(
  deps: Dependencies,
  { report, supervisor, log }: { report: PassReport; supervisor: Supervisor | undefined; log: Log },
): Promise<void> {
  if (supervisor === undefined) return;
  try {
    supervisor.status(await statusText(deps, report));
  } catch (error) {
    if (!isAgentError(error)) throw error;
    log.debug('the status for systemd cannot be made', { error });
  }
}

/**
 * Waits while the disk is full, as the loop does: whatever supervises the daemon would only start it again and again.
 * `undefined`: the agent was stopped meanwhile.
 */
async function openWhenPossible(
  log: Log,
  { signal, waits }: { readonly signal: AbortSignal; readonly waits: (why: string) => void },
  open: () => Promise<AgentWithSigns>,
): Promise<AgentWithSigns | undefined> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isAgentError(error, 'state.full')) throw error;
      waits(error.message);
      log.error('the agent cannot start and tries again', {
        error: error.message,
        hint: error.hint,
        inMs: startPauseMs,
      });
      await systemClock.sleep(startPauseMs, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }
}

/** The new settings; `undefined` where they cannot be used: then the log says why, and the old ones stay. */
async function reloadSettings(
  context: Context,
  { log, current, signal }: { readonly log: Log; readonly current: Settings; readonly signal: AbortSignal },
): Promise<Settings | undefined> {
  const { settings, problems } = loadAgain(current, context);
  if (settings === undefined) {
    log.error('the new config is not valid; the old one stays', { problems: problems.map(problemLine) });
    return undefined;
  }
  if (settings.state !== current.state) {
    log.error('the new config names another state directory, which takes a restart; the old one stays', {
      state: settings.state,
    });
    return undefined;
  }
  if (ledgerOf(settings) !== ledgerOf(current)) {
    log.error('the new config names another ledger, which takes a restart; the old one stays');
    return undefined;
  }
  if ((settings.destination === 'emulator') !== (current.destination === 'emulator')) {
    log.error('going to or from the emulator takes a restart; the old config stays');
    return undefined;
  }
  log.info('the config is loaded again', { wouldChange: await previewReload(settings, log, signal) });
  return settings;
}

/** The file that the agent began with, and no other one: while it is away, another place may have a config. */
function loadAgain({ file }: Settings, { env }: Context): LoadedConfig {
  return loadConfig(file, { env, secrets: 'required' });
}

function ledgerOf({ ledger }: Settings): string {
  return JSON.stringify(ledger && { ...ledger, alike: '' });
}
