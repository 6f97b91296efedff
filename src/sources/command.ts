/** `type: command`: the output of a program, read as one of the text formats. */
import { z } from 'zod';
import type { Batch } from '../core/mapping/column-batch.ts';
import { asColumns } from '../core/mapping/row-coder.ts';
import type { Content, Part } from '../core/model.ts';
import type { Source } from '../core/ports.ts';
import { type Program, outputOf, programName } from './command/program.ts';
import { takeTurn } from './command/turn.ts';
import { type KeptFile, keepContent } from './files/keep.ts';
import { PartFile } from './files/part-file.ts';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { StableFile } from './files/stable-file.ts';
import { checkRows } from './formats/json-array.ts';
import { checkTable } from './formats/table.ts';
import { type SourceContext, defineKind, needsOf } from './kind.ts';
import { formatsWith, textFormatKey, textFormatKeys, textReader } from './text-formats.ts';

const partName = 'output';
/** An output waits so long to be read. Then it is removed, in case nobody reads it. */
const unreadMaxMs = 60_000;

const schema = z
  .strictObject({
    command: z
      .array(z.string().refine((text) => !text.includes('\0'), 'a NUL character'))
      .min(1)
      .refine(([program]) => program !== undefined && program.trim() !== '', 'the first text names no program')
      .describe(
        'The program and its arguments, each a text of its own: no shell reads them. It runs in the folder of the config file; a name with a slash is relative to that, any other is looked for in PATH. Its output counts only where it ends by itself with exit code 0.',
      )
      .meta({ examples: [['./export.sh', '--all']] }),
    format: textFormatKey.describe('How its output is read.'),
    env: z
      .record(z.string(), z.string())
      .prefault({})
      .describe(
        'Variables of its environment. Of the agent\'s own it gets none but PATH, HOME, USER, LANG and the like, and TZ, which is `UTC`. The values are never shown: the place for a password is here (`PGPASSWORD: "${BOOKS_PASSWORD}"`) and not among the arguments, which every user of the machine can see.',
      ),
    lineEnd: lineEndKey.describe(
      'An output that does not end with a line end may be half of one. `expected`: it is not read where its accepted read ended with one. `any`: such outputs are whole.',
    ),
    expandedMax: fileKeys.expandedMax.describe(
      'An output of more than this is refused, and the program is ended. It is kept in the state directory while it is read.',
    ),
    ...textFormatKeys,
    encoding: textFormatKeys.encoding.describe('Of csv and tsv, as in a file. Default: `utf-8`.'),
  })
  .superRefine(checkTable)
  .superRefine(checkRows);

type CommandSettings = z.output<typeof schema>;

export const command = defineKind(
  schema,
  (settings, context): Source => {
    const output = new Output(settings, context);
    return {
      isExpensive: true,
      parts: async (signal, known) => [await output.look(signal, known?.get(partName))],
      rows: (_part, signal) => output.rows(signal),
    };
  },
  { homeOfForeign: formatsWith },
);

/** What is known of a source between looks: sources are opened anew for each pass, their settings stay. */
interface Memory {
  /** The last run: two at once could disturb each other. */
  running: Promise<unknown>;
  version: string | undefined;
}

const memories = new WeakMap<CommandSettings, Memory>();

interface Printed {
  readonly kept: KeptFile;
  readonly version: string;
}

class Output {
  readonly #settings: CommandSettings;
  readonly #context: SourceContext;
  readonly #program: Program;
  readonly #memory: Memory;
  /** Printed for a look and not read yet: a program must not work twice for one read. */
  #unread: (Printed & { readonly timer: NodeJS.Timeout }) | undefined;

  constructor(settings: CommandSettings, context: SourceContext) {
    this.#settings = settings;
    this.#context = context;
    this.#program = { command: settings.command, directory: context.baseDir, env: settings.env };
    this.#memory = memories.get(settings) ?? { running: Promise.resolve(), version: undefined };
    memories.set(settings, this.#memory);
  }

  async look(signal: AbortSignal, known: string | undefined): Promise<Part> {
    await this.#takeUnread()?.kept.remove();
    const printed = await this.#run(signal, known);
    const { version } = printed;
    if (version === known) await printed.kept.remove();
    else this.#keepUnread(printed);
    return { name: partName, version, revisedAtMs: revisedAtMsOf(version) };
  }

  async *rows(signal: AbortSignal): AsyncGenerator<Batch, Content, void> {
    signal.throwIfAborted();
    const { kept, version } = this.#takeUnread() ?? (await this.#run(signal, undefined));
    try {
      const file = await StableFile.open(kept.file, partName, signal);
      try {
        const { format, lineEnd, encoding = 'utf-8', expandedMax } = this.#settings;
        const partFile = new PartFile(file, expandedMax);
        const needs = needsOf(this.#context);
        const read = textReader(format, { ...this.#settings, encoding }, needs);
        const { endsWithLineEnd } = yield* asColumns(read(partFile), needs);
        const ending = lineEnd === 'any' ? {} : { endsWithLineEnd };
        return { ...ending, hash: await partFile.hash(), version, revisedAtMs: revisedAtMsOf(version) };
      } finally {
        await file.close();
      }
    } finally {
      await kept.remove();
    }
  }

  async #run(signal: AbortSignal, known: string | undefined): Promise<Printed> {
    const memory = this.#memory;
    const before = memory.running;
    const done = Promise.withResolvers<void>();
    memory.running = done.promise;
    let endTurn = (): void => undefined;
    try {
      await before;
      endTurn = await takeTurn(this.#context.name, this.#context.state, signal);
      const what = `the output of ${programName(this.#program)}`;
      const keeping = { what, state: this.#context.state, bytesMax: this.#settings.expandedMax };
      const kept = await keepContent(outputOf(this.#program, signal), keeping);
      // The time of a version is when its content was first seen.
      const same = [known, memory.version].find((version) => version?.startsWith(`${kept.hash} `) === true);
      const version = same ?? `${kept.hash} ${this.#context.clock.now().getTime()}`;
      memory.version = version;
      return { kept, version };
    } finally {
      endTurn();
      done.resolve();
    }
  }

  #keepUnread(printed: Printed): void {
    const timer = setTimeout(() => void this.#takeUnread()?.kept.remove(), unreadMaxMs).unref();
    this.#unread = { ...printed, timer };
  }

  #takeUnread(): Printed | undefined {
    const unread = this.#unread;
    this.#unread = undefined;
    clearTimeout(unread?.timer);
    return unread;
  }
}

function revisedAtMsOf(version: string): number {
  return Number(version.slice(version.indexOf(' ') + 1));
}
