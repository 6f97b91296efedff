/** Why a program was not found though its file is there: the system says the same of a script whose interpreter is missing. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { quote } from '../../core/text.ts';

/** As much of a script's first line as Linux looks at. */
const firstLineBytesMax = 256;

interface Reason {
  readonly message: string;
  readonly hint: string;
}

/**
 * `undefined` where there is no such file.
 * @param name as it is written @param directory where it runs @param searched PATH
 */
export async function whyNotStarted(name: string, directory: string, searched = ''): Promise<Reason | undefined> {
  const file = standingFile(name, directory, searched);
  const start = file === undefined ? undefined : await startOf(file);
  if (start === undefined) return undefined;
  const [, interpreter] = /^#![ \t]*([^ \t\n]+)/.exec(start) ?? [];
  if (interpreter === undefined) {
    return {
      message: `the program ${name} is there, and the system cannot run it`,
      hint: 'it needs a loader that this machine does not have: take the program that was made for this system',
    };
  }
  if (interpreter.endsWith('\r')) {
    return {
      message: `the program ${name} is there, and its first line ends with a carriage return, as lines of Windows do`,
      hint: `save it with Unix line ends (sed -i 's/\\r$//' FILE does that)`,
    };
  }
  const isThere = existsSync(path.resolve(directory, interpreter));
  return {
    message: `the program ${name} is there, and its first line names ${quote(interpreter)}, which ${isThere ? 'cannot be run' : 'is not there'}`,
    hint: 'write in its first line, behind "#!", the full path of what runs it, such as /bin/sh or /usr/bin/env python3',
  };
}

function standingFile(name: string, directory: string, searched: string): string | undefined {
  const folders = /[/\\]/.test(name)
    ? [directory]
    : searched.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.resolve(folder, name)).find((file) => existsSync(file));
}

async function startOf(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(firstLineBytesMax), 0, firstLineBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    // Who may run it may not always read it.
    return undefined;
  }
}
