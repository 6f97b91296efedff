/** Shows the changes of the last push. */
import { html } from 'hono/html';
import type { Driver, Point } from '../../contract/driver-push.ts';
import type { LastPush } from '../drivers/driver-routes.ts';
import type { RequestRecord } from '../request-record.ts';
import { showAgo } from '../../pages/ago.ts';
import { countOf, groupDecimal, groupDigits, showState } from '../../pages/markup.ts';
import type { Html, Tone } from '../../pages/markup.ts';

const kinds = ['added', 'changed', 'removed'] as const;
type Kind = (typeof kinds)[number];

const tones: Readonly<Record<Kind, Tone>> = { added: 'good', changed: 'busy', removed: 'bad' };

const driversShownMax = 50;

/** @param record the newest push that was applied, if that was before the emulator was started */
export function showEarlierPush(record: RequestRecord): Html {
  return showCard(record, html`<p>What it changed is not known: it came before the emulator was started again.</p>`);
}

export function showLastPush(last: LastPush, isHeld: (id: string) => boolean): Html {
  const changed = kinds.filter((kind) => last[kind] > 0);
  return showCard(
    last.record,
    changed.length === 0
      ? html`<p>${showState('idle', 'It changed nothing')}</p>`
      : html`${changed.map((kind) => showKind(kind, last, isHeld))}`,
  );
}

function showCard({ at, counts }: RequestRecord, changes: Html): Html {
  return html`<section class="card last-push" aria-label="Last push">
    <h2>Last push</h2>
    <p class="quiet">
      ${showAgo(at, Date.now())}, with ${countOf(counts?.drivers ?? 0, 'driver')} and
      ${countOf(counts?.points ?? 0, 'point')}
    </p>
    ${changes}
  </section>`;
}

function showKind(kind: Kind, last: LastPush, isHeld: (id: string) => boolean): Html {
  const ids = [...last.before].filter(([id, before]) => kindOf(before, isHeld(id)) === kind).map(([id]) => id);
  const shown = ids.slice(0, driversShownMax);
  const more = last[kind] - shown.length;
  const items = shown.map((id) => {
    const name = html`<bdi>${id}</bdi>`;
    return html`<li>
      ${kind === 'removed' ? name : html`<a href="/console/drivers?id=${encodeURIComponent(id)}">${name}</a>`}
    </li>`;
  });
  return html`<details>
    <summary>${showState(tones[kind], `${countOf(last[kind], 'driver')} ${kind}`)}</summary>
    <ul class="plain">
      ${items}${more > 0 ? html`<li>and ${groupDigits(more)} more</li>` : ''}
    </ul>
  </details>`;
}

function kindOf(before: Driver | undefined, isHeld: boolean): Kind {
  if (before === undefined) return 'added';
  return isHeld ? 'changed' : 'removed';
}

/** A point with its change by the last push. */
export interface PointRow extends Point {
  readonly isGone: boolean;
  readonly change: Html | '';
  /** What the change of its value was, in words; `undefined` where it did not change. */
  readonly was?: string | undefined;
}

/**
 * The points of `now` and those that are gone since `before`, each with its change, newest first. A month has one point, so
 * another time in the same month is a change of that point.
 * @param before undefined if the push did not change the driver, or if that is unknown.
 */
export function pointRows(now: readonly Point[], before: readonly Point[] | undefined): PointRow[] {
  const left = new Map((before ?? now).map((point) => [monthOf(point.time) ?? point.time, point]));
  const rows = now.map((point): PointRow => {
    const month = monthOf(point.time) ?? point.time;
    const earlier = left.get(month);
    left.delete(month);
    return { ...point, isGone: false, change: showChange(point, earlier), was: wordsFor(point, earlier) };
  });
  for (const point of left.values()) rows.push({ ...point, isGone: true, change: showState('bad', 'removed') });
  return rows.sort((first, second) => (BigInt(first.time) < BigInt(second.time) ? 1 : -1));
}

function showChange({ time, value }: Point, earlier: Point | undefined): Html | '' {
  if (earlier === undefined) return showState(tones.added, 'added');
  if (earlier.value !== value) return showState(tones.changed, `changed from ${groupDecimal(earlier.value)}`);
  return earlier.time === time ? '' : showState(tones.changed, `time changed from ${earlier.time}`);
}

/** Only what a chart marks: a value that is new or another one. */
function wordsFor({ value }: Point, earlier: Point | undefined): string | undefined {
  if (earlier === undefined) return 'added';
  return earlier.value === value ? undefined : `was ${groupDecimal(earlier.value)}`;
}

/** `2026-03`, UTC; undefined for a time that is beyond the range of dates. */
export function monthOf(time: string): string | undefined {
  const moment = new Date(Number(time) * 1_000);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString().replace(/-\d\dT.*$/, '');
}
