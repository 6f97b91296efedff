/** One line on a terminal for what takes longer than a second: how much, how fast, how long still. */
import type { PassEvent } from '../app/dependencies.ts';
import { visible } from '../core/text.ts';
import { showBytes } from '../core/size.ts';
import { cutToWidth } from './text.ts';

export interface Progress {
  readonly observe: (event: PassEvent) => void;
  /** Clears the line. */
  end(): void;
}

const silenceMs = 1000;
const intervalMs = 200;

export function openProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { observe: () => undefined, end: () => undefined };
  let startedMs = performance.now();
  let shownMs = 0;
  let subject = '';
  const show = (about: string, line: (elapsedMs: number) => string): void => {
    const nowMs = performance.now();
    if (about !== subject) [subject, startedMs] = [about, nowMs];
    const elapsedMs = nowMs - startedMs;
    if (elapsedMs < silenceMs || nowMs - shownMs < intervalMs) return;
    shownMs = nowMs;
    stream.write(`\r\u001b[K${cutToWidth(visible(line(elapsedMs)), (stream.columns || 80) - 1)}`);
  };
  return {
    observe(event) {
      if (event.kind === 'part.reading') {
        const { source, part, rows, share } = event;
        show(
          `${source} ${part}`,
          (ms) => `reading ${part}: ${rows} rows, ${rate(rows, ms)} rows/s${remaining(share, ms)}`,
        );
      } else if (event.kind === 'push.sending') {
        const { sent, bytes } = event;
        show('push', (ms) => `pushing ${showBytes(sent)} of ${showBytes(bytes)}${remaining(sent / bytes, ms)}`);
      } else if (event.kind === 'waiting') {
        stream.write(`\r\u001b[K${visible(event.why)}, ${Math.ceil(event.ms / 1000)} s`);
        shownMs = performance.now();
      }
    },
    end() {
      if (shownMs > 0) stream.write('\r\u001b[K');
    },
  };
}

function rate(amount: number, ms: number): string {
  return Math.round((amount / ms) * 1000).toLocaleString('en-US');
}

function remaining(share: number | undefined, elapsedMs: number): string {
  if (share === undefined || share <= 0) return '';
  const seconds = Math.round((elapsedMs / share - elapsedMs) / 1000);
  return `, ${Math.round(share * 100)}%, ${seconds} s left`;
}
