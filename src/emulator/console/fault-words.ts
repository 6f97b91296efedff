/** Says a fault in words. */
import type { Delay, Fault } from '../../contract/fault-script.ts';
import { groupDigits } from '../../pages/markup.ts';

export interface FaultWords {
  /** What happens. */
  readonly what: string;
  /** To which requests. */
  readonly which: string;
  /** How many of them, how likely, and when. */
  readonly often: string;
}

export function wordsOf(fault: Fault): FaultWords {
  return {
    what: capital([...mannersOf(fault), ...endOf(fault)].join(', ')),
    which: aimOf(fault),
    often: oftenOf(fault),
  };
}

function endOf({ status, retryAfter, redirect, hang, drop, reset, apply, ...fault }: Fault): string[] {
  const applied = apply === true ? ', and applies the request nevertheless' : '';
  if (status !== undefined) {
    const after = typeof retryAfter === 'number' ? `${retryAfter} s` : retryAfter;
    const again = after === undefined ? '' : `, to be tried again after ${after}`;
    return [`answers ${status}${again}${applied}`];
  }
  if (redirect !== undefined) return [`sends to ${redirect} (307)`];
  if (hang === true) return [`never answers${applied}`];
  if (drop !== undefined) return [`closes the connection ${drop} the request is applied`];
  if (reset !== undefined) return [`resets the connection ${reset} the request is applied`];
  if (fault.failureCode !== undefined) return [`its task fails with ${fault.failureCode}`];
  return fault.cancelled === true ? ['its task ends cancelled'] : [];
}

function mannersOf({ delayMs, slowRead, trickle, truncate }: Fault): string[] {
  return [
    delayMs === 0 ? '' : `waits ${delayOf(delayMs)}`,
    slowRead === undefined ? '' : `reads ${groupDigits(slowRead.bytesPerSecond)} bytes a second`,
    trickle === undefined ? '' : `sends ${groupDigits(trickle.bytes)} bytes every ${groupDigits(trickle.everyMs)} ms`,
    truncate === undefined ? '' : `cuts the answer after ${groupDigits(truncate)} bytes`,
  ].filter((words) => words !== '');
}

function delayOf(delay: Delay): string {
  if (typeof delay === 'number') return `${groupDigits(delay)} ms`;
  if ('uniform' in delay) return `${groupDigits(delay.uniform.minMs)} to ${groupDigits(delay.uniform.maxMs)} ms`;
  return `about ${groupDigits(delay.logNormal.medianMs)} ms, now and then much longer`;
}

function aimOf({ method, path }: Fault): string {
  if (path === undefined) return method === undefined ? 'any request' : `any ${method}`;
  return method === undefined ? path : `${method} ${path}`;
}

function oftenOf({ times, probability, fromSeconds, untilSeconds }: Fault): string {
  const count = times === 'always' ? 'every one' : times === 1 ? 'the next one' : `the next ${groupDigits(times)}`;
  const chance = probability === 1 ? '' : `, ${Number((probability * 100).toPrecision(3))} % of them`;
  const from = fromSeconds === 0 ? '' : `from ${groupDigits(fromSeconds)} s`;
  const until = untilSeconds === undefined ? '' : `up to ${groupDigits(untilSeconds)} s`;
  const when = [from, until].filter((words) => words !== '').join(' ');
  return `${count}${chance}${when === '' ? '' : `, ${when} after it was ordered`}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
