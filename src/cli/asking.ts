/** A question to whoever sits at the terminal. */
import { createInterface } from 'node:readline';
import { visible } from '../core/text.ts';

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Only "y" and "yes" are a yes: Enter, Ctrl-C and Ctrl-D are a no. */
export function isYes(question: string, { input, output }: Terminal): Promise<boolean> {
  return new Promise((resolve) => {
    const terminal = createInterface({ input, output });
    let said: string | undefined;
    terminal.once('close', () => {
      // Nobody pressed Enter: what is said next begins a line of its own.
      if (said === undefined) output.write('\n');
      resolve(/^y(es)?$/i.test((said ?? '').trim()));
    });
    terminal.question(`${visible(question)}. Go on? [y/N] `, (text) => {
      said = text;
      terminal.close();
    });
  });
}
