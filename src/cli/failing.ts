/** How a command fails. Apart from `context.ts`, which loads all that reads a config: `--version` and `--help` need none of it. */
import type { PlacedDiagnostic } from '../config/diagnostics.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import { printJson, say } from './output.ts';
import { shortPath } from './working-directory.ts';

/** A config with problems: all of them, for people and for scripts. */
export class ConfigError extends AgentError {
  readonly problems: readonly PlacedDiagnostic[];
  readonly headline: string;

  constructor(problems: readonly PlacedDiagnostic[], hint = '"driver-sync check" says when it is right') {
    const headline = `the config has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}`;
    super('config.invalid', [headline, ...problems.map(problemLine)].join('\n'), { hint });
    this.problems = problems;
    this.headline = headline;
  }
}

export function problemLine({ file, line, column, message, hint }: PlacedDiagnostic): string {
  const shown = shortPath(file);
  const place = shown === '' || shown.startsWith('..') ? file : shown;
  return `${place}:${line}:${column} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** What a command was asked, as far as its failure goes. */
interface Asked {
  readonly options: { readonly json?: boolean };
}

/** Says why a command failed, and gives its exit code. */
export function fail({ options }: Asked, error: unknown): number {
  const isJson = options.json === true;
  if (!isAgentError(error)) {
    const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (isJson) printJson({ error: { code: 'bug', message: bug }, exit: 1 });
    say('driver-sync: a bug, please report it', ...bug.split('\n'));
    return 1;
  }
  const { code, message, hint, exit } = error;
  const problems = error instanceof ConfigError ? error.problems : undefined;
  if (isJson) {
    const more = { ...(hint === undefined ? {} : { hint }), ...(problems === undefined ? {} : { problems }) };
    printJson({ error: { code, message, ...more }, exit });
  } else {
    const headline = error instanceof ConfigError ? error.headline : message;
    const hints = hint === undefined ? [] : [`  ${hint}`];
    say(`driver-sync: ${headline}`, ...(problems ?? []).map(problemLine), ...hints);
  }
  return exit;
}
