import { openAgent, watchRequests } from '../app/compose.ts';
import { passAllowanceMs, runDaemon } from '../app/daemon.ts';
import type { PassReport } from '../app/report.ts';
import { Waker } from '../app/waker.ts';
import type { PassEvent } from '../app/world.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import { type Context, commandLog, load, loadSettings, print, problemLine } from './context.ts';
import { embedEmulator } from './embedded.ts';
import { previewReload } from './plan.ts';
import { showChanges } from './text.ts';

/** A push under way at SIGTERM may end by itself for this long; DESIGN allows 20 s in all. */
const graceMs = 15_000;

/** The daemon, until SIGTERM or SIGINT. */
export async function run(context: Context): Promise<number> {
  const settings = loadSettings(context, 'required');
  const log = commandLog(context, 'info');
  await using emulator = await embedEmulator(settings);
  const ending = openEnding(log);
  const agent = openAgent(settings, {
    command: 'run',
    log,
    env: context.env,
    version: context.version,
    emulatorUrl: emulator?.url,
    observe: (event) => {
      ending.note(event);
      agent.beat(passAllowanceMs(agent.world.settings));
    },
  });
  await using _agent = agent;
  if (emulator !== undefined) {
    print(`emulator: ${emulator.url}`);
    print(`drivers:  ${emulator.url}/_emulator/drivers`);
  }
  const waker = new Waker(agent.world.clock);
  process.on('SIGHUP', () => waker.wake('reload'));
  process.on('SIGUSR2', () => waker.wake('pass'));
  using _requests = watchRequests(settings, () => waker.wake('request'));
  log.info('driver-sync runs', {
    version: context.version,
    config: settings.file,
    state: settings.state,
    sources: settings.sources.length,
  });
  const reload = (): Promise<Settings | undefined> => reloadSettings(context, { log, current: agent.world.settings });
  const passed = (report: PassReport): void => {
    logPass(log, report);
    if (emulator !== undefined && report.outcome === 'acknowledged') {
      print(`pushed:   ${report.push?.drivers} drivers to the emulator; Ctrl+C ends`);
    }
  };
  await runDaemon({ agent, waker, reload, signal: ending.signal, passed });
  log.info('driver-sync ends');
  return 0;
}

interface Ending {
  readonly signal: AbortSignal;
  note(event: PassEvent): void;
}

/** The first SIGTERM or SIGINT lets a push end, the second one ends the process at once. */
function openEnding(log: Log): Ending {
  const stop = new AbortController();
  let isPushing = false;
  let isAsked = false;
  const onSignal = (name: NodeJS.Signals): void => {
    if (isAsked) process.exit(name === 'SIGINT' ? 130 : 143);
    isAsked = true;
    log.info(isPushing ? 'ending: waiting for the push to be answered' : 'ending', { signal: name });
    if (!isPushing) stop.abort(new AgentError('aborted', `stopped by ${name}`));
    else setTimeout(() => stop.abort(new AgentError('aborted', `stopped by ${name}`)), graceMs).unref();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signal: stop.signal,
    note({ kind }) {
      if (kind === 'push.begun') isPushing = true;
      if (kind !== 'push.recorded') return;
      isPushing = false;
      if (isAsked) stop.abort(new AgentError('aborted', 'stopped'));
    },
  };
}

/** The new settings where they are valid; else the reasons go to the log and the old ones stay. */
async function reloadSettings(
  context: Context,
  { log, current }: { log: Log; current: Settings },
): Promise<Settings | undefined> {
  const { settings, problems } = load(context, 'required');
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
  if ((settings.destination === 'emulator') !== (current.destination === 'emulator')) {
    log.error('going to or from the emulator takes a restart; the old config stays');
    return undefined;
  }
  log.info('the config is loaded again', { wouldChange: await previewReload(settings, log) });
  return settings;
}

function logPass(log: Log, report: PassReport): void {
  const { outcome, exit, reason, hint, push } = report;
  for (const source of report.sources) {
    if (source.state === 'held' || source.state === 'unread') {
      const { name, state, reason: why, hint: what, digest } = source;
      log.warn(`source ${state}`, { source: name, reason: why, hint: what, digest });
    } else if (source.state === 'accepted') {
      log.info('source accepted', {
        source: source.name,
        rows: source.rows,
        rejects: source.rejects,
        changes: showChanges(source.changes),
      });
    }
  }
  const fields = {
    outcome,
    exit,
    reason,
    hint,
    push: push?.id,
    digest: push?.digest,
    drivers: push?.drivers,
    points: push?.points,
  };
  if (outcome === 'acknowledged') log.info('pushed', fields);
  else if (outcome === 'unchanged') log.debug('nothing to push', fields);
  else log.warn(`push ${outcome}`, fields);
}
