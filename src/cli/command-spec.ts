/** The commands as data, read from their definitions: completions and the man page are made of it. */
import type { Argument, Command, Option } from 'commander';

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Without the name of the program. */
  readonly examples: readonly string[];
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isVariadic: boolean;
  /** What it may be, where that is known. */
  readonly choices: readonly string[];
  /** What a shell can ask for: names of sources, digests of what is held, numbers of pushes; or files and folders. */
  readonly words: 'sources' | 'held' | 'pushes' | 'folders' | undefined;
}

export interface OptionSpec {
  /** As it is shown: `--max-age <duration>`. */
  readonly flags: string;
  /** With its dashes. */
  readonly long: string;
  readonly description: string;
  readonly takes: 'nothing' | 'file' | 'folder' | 'text';
  readonly isVariadic: boolean;
  readonly choices: readonly string[];
}

const examples = new WeakMap<Command, readonly string[]>();

export function keepExamples(command: Command, lines: readonly string[]): void {
  examples.set(command, lines);
}

/** @param program with its commands; hidden ones are left out */
export function specsOf(program: Command): readonly CommandSpec[] {
  const shown = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => examples.has(command));
  return shown.map((command) => ({
    name: command.name(),
    summary: command.description(),
    arguments: command.registeredArguments.map(argumentOf),
    options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
    examples: examples.get(command) ?? [],
  }));
}

const wordsOf: Readonly<Record<string, ArgumentSpec['words']>> = {
  source: 'sources',
  digest: 'held',
  push: 'pushes',
  a: 'pushes',
  b: 'pushes',
  dir: 'folders',
};

function argumentOf(argument: Argument): ArgumentSpec {
  return {
    name: argument.name(),
    description: argument.description,
    isRequired: argument.required,
    isVariadic: argument.variadic,
    choices: argument.argChoices ?? [],
    words: wordsOf[argument.name()],
  };
}

function optionOf({ flags, long, description, argChoices, variadic }: Option): OptionSpec {
  const [, value] = /[<[]([^>\].]+)/.exec(flags) ?? [];
  const takes = value === undefined ? 'nothing' : value === 'file' ? 'file' : value === 'dir' ? 'folder' : 'text';
  return { flags, long: long ?? flags, description, takes, isVariadic: variadic, choices: argChoices ?? [] };
}
