/** Runs a program to its end and gives what it printed: a process group of its own, no shell, and nothing of the agent's secrets. */
import * as childProcess from 'node:child_process';
import path from 'node:path';
import { AgentError } from '../../core/errors.ts';
import { shellPathProblem } from '../../core/text.ts';
import { codeOf } from '../files/access.ts';
import { maskHeaders, oneLine } from '../../http/masking.ts';
import { secretsInCommand } from './secrets.ts';
import { whyNotStarted } from './standing.ts';

export interface Program {
  /** The program, and its arguments. */
  readonly command: readonly string[];
  /** Absolute: where it runs, and what a program with a slash in its name is relative to. */
  readonly directory: string;
  /** What it is given beside what `inherited` names. The values are secrets. */
  readonly env: Readonly<Record<string, string>>;
}

/** Variables of the agent's own environment that a program gets: none that usually holds a secret. */
const inherited =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|SSL_CERT_FILE|SSL_CERT_DIR|SYSTEMROOT|WINDIR|PATHEXT|COMSPEC|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA)$/i;

/** What it said on stderr is kept as far. */
const saidBytesMax = 4096;
/** After its end, its output is waited for as long. Some process that it started has it open then. */
const heldMs = 2000;
/** Between asking a program to end and ending it. */
const farewellMs = 2000;
/** A process that does not end by SIGKILL hangs in the kernel, and the agent must not. */
const endingMaxMs = 3000;

export function programName({ command }: Pick<Program, 'command'>): string {
  return path.basename(command[0] ?? '');
}

/** How a program ended, or why it did not begin. */
type End = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly error: Error };

/**
 * What a program prints, as it comes. It counts only where this comes to its end: the program ended by itself with 0 and all that
 * held its output open is gone.
 * @throws AgentError `source.unreadable`, or the signal's reason
 */
export async function* outputOf(program: Program, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  signal.throwIfAborted();
  const { directory, env } = program;
  const [name = '', ...rest] = program.command;
  const child = childProcess.spawn(/[/\\]/.test(name) ? path.resolve(directory, name) : name, rest, {
    cwd: directory,
    env: { ...safeEnvironment(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it started ends with it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const running = new Running(program, child);
  const stop = (): void => void child.stdout.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  let isWhole = false;
  try {
    yield* running.output();
    signal.throwIfAborted();
    await running.checkEnd();
    isWhole = true;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    if (!isWhole) await running.kill();
  }
}

class Running {
  readonly #program: Program;
  readonly #child: childProcess.ChildProcess;
  readonly #ended: Promise<End>;
  #hasEnded = false;
  #said = Buffer.alloc(0);
  #isSaidCut = false;

  constructor(program: Program, child: childProcess.ChildProcess) {
    this.#program = program;
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      const end = (how: End): void => {
        this.#hasEnded = true;
        resolve(how);
      };
      child.once('error', (error) => end({ error }));
      child.once('exit', (code, signal) => end({ code, signal }));
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      const said = Buffer.concat([this.#said, chunk]);
      this.#isSaidCut ||= said.length > saidBytesMax;
      this.#said = said.subarray(-saidBytesMax);
    });
    // It breaks where the program is killed, and says nothing then.
    child.stderr?.on('error', () => undefined);
  }

  async *output(): AsyncGenerator<Buffer, void, void> {
    const stdout = this.#child.stdout as NonNullable<childProcess.ChildProcess['stdout']>;
    let waitsSinceMs = performance.now();
    let isWaiting = true;
    const watch = setInterval(() => {
      if (this.#hasEnded && isWaiting && performance.now() - waitsSinceMs > heldMs) stdout.destroy(this.#heldError());
    }, heldMs / 4).unref();
    try {
      for await (const chunk of stdout as AsyncIterable<Buffer>) {
        isWaiting = false;
        yield chunk;
        isWaiting = true;
        waitsSinceMs = performance.now();
      }
    } finally {
      clearInterval(watch);
    }
  }

  /** @throws AgentError where it did not end by itself with 0 */
  async checkEnd(): Promise<void> {
    const end = await this.#ended;
    if ('error' in end) throw await this.#notStarted(end.error);
    const { code, signal } = end;
    if (code === 0) return;
    const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    const hint =
      signal === 'SIGKILL'
        ? 'did the machine run out of memory? the log of the kernel says so'
        : `run it by hand in ${this.#program.directory}: only an exit code of 0 says that its output is whole`;
    throw this.#failure(`${how}${this.#words()}`, hint);
  }

  /** Ends it and all that it started. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    if (pid === undefined) return;
    this.#signal(pid, 'SIGTERM');
    await this.#hasGone(farewellMs);
    // What it started may live on without it.
    this.#signal(pid, 'SIGKILL');
    await this.#hasGone(endingMaxMs);
  }

  /** Comes back when it has ended, or after `waitMs`. */
  async #hasGone(waitMs: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, waitMs);
    await Promise.race([this.#ended, late.promise]);
    clearTimeout(timer);
  }

  #signal(pid: number, name: NodeJS.Signals): void {
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, name);
    } catch (error) {
      if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
    }
  }

  #heldError(): AgentError {
    return this.#failure(
      `has ended, and something that it started still holds its output open`,
      'nobody knows whether more would come: let it wait for what it starts, or give that another output',
    );
  }

  async #notStarted(error: Error): Promise<AgentError> {
    const { command, directory, env } = this.#program;
    const name = command[0] ?? '';
    switch (codeOf(error)) {
      case 'ENOENT': {
        const reason = await whyNotStarted(name, directory, env['PATH'] ?? process.env['PATH']);
        if (reason !== undefined)
          return new AgentError('source.unreadable', reason.message, { cause: error, hint: reason.hint });
        return new AgentError('source.unreadable', `there is no program ${name}`, {
          cause: error,
          hint:
            shellPathProblem(name)?.hint ??
            'write its full path, or a path from the config file such as ./export.sh; other names are looked for in PATH',
        });
      }
      case 'EACCES':
        return new AgentError('source.unreadable', `the program ${name} may not be run`, {
          cause: error,
          hint: 'make it executable (chmod +x), also for the user of the agent',
        });
      default:
        return this.#failure(`could not be started (${codeOf(error) ?? error.message})`, 'run it by hand');
    }
  }

  /** The last words that it said on stderr. */
  #words(): string {
    const { env, command } = this.#program;
    const said = this.#said.toString('utf8');
    // Half a word may be the rest of a secret, which would not be known as such; each word of one is.
    const text = (this.#isSaidCut ? said.replace(/^\S+/, '') : said).trim();
    // The end of what it said tells most: a stack of calls begins with what nobody wants to know.
    const lines = maskHeaders(text).split(/\r?\n/).slice(-3).join(' / ');
    const words = oneLine(lines, [...Object.values(env), ...secretsInCommand(command)]);
    return words === '' ? '' : `: ${words}`;
  }

  #failure(what: string, hint: string): AgentError {
    return new AgentError('source.unreadable', `the command ${programName(this.#program)} ${what}`, { hint });
  }
}

function safeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => inherited.test(name)));
}
