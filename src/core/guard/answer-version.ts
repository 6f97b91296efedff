/** Versions made of what a cheap query answers, and whether one is older than another. */
import { createHash } from 'node:crypto';
import type { Row } from '../model.ts';

const mark = 'answer ';
/** Longer answers are revision by their hash: nobody compares those. */
const lengthMax = 1000;

/** Equal answers give equal versions. */
export function answerVersion(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  return text.length <= lengthMax ? `${mark}${text}` : `${mark}${createHash('sha256').update(text).digest('hex')}`;
}

/** A time that a database says is earlier than it said before: a replica that lags, or a restored backup. */
export interface Regression {
  readonly from: string;
  readonly to: string;
}

/** Compares dates and times alone: a count goes down whenever a row is deleted. */
export function regression(before: string, after: string): Regression | undefined {
  const [old, now] = [timesOf(before), timesOf(after)];
  if (old === undefined || now === undefined || old.length !== now.length) return undefined;
  for (const [at, from] of old.entries()) {
    const to = now[at] as string;
    // One server writes them all alike, so that texts compare as the times do.
    if (isTime(from) && isTime(to) && to < from) return { from, to };
  }
  return undefined;
}

function timesOf(version: string): readonly string[] | undefined {
  if (!version.startsWith(`${mark}[`)) return undefined;
  return (JSON.parse(version.slice(mark.length)) as readonly Row[]).flat();
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?$/.test(text);
}
