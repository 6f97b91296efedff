/**
 * A chart of months, drawn on the server: it needs no script, and is as wide as its page. Lengths along the page are per cent, those
 * down it are pixels, so that texts keep their size at every width.
 */
import { html } from 'hono/html';
import { fitting } from './fitting.ts';
import { type Html, groupDecimal } from './markup.ts';
import { monthTicks, valueRange, valueTicks } from './ticks.ts';

/** One value of one month. Numbers are made of values for drawing only. */
export interface ChartPoint {
  /** `2026-03` */
  readonly month: string;
  readonly value: string;
  /** Its mark, and what the mark says: `was 12 before push 3`. */
  readonly mark?: string | undefined;
}

export interface Chart {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  /** In the order of months. */
  readonly points: readonly ChartPoint[];
  /** What the same points were before, the newest first, drawn faintly behind them. */
  readonly past?: readonly (readonly ChartPoint[])[];
  /** What a marked point is, below the chart: `changed by the last push`. */
  readonly markMeans?: string | undefined;
  /** What the faint lines are. */
  readonly pastMeans?: string | undefined;
}

const height = 260;
const top = 14;
const bottom = 236;
const dotsMax = 60;
/** More would be narrower than a finger, and take more of the page than the table. */
const hitsMax = 72;
/** The newest of more are marked: where nearly all changed, marks say nothing. */
const marksMax = 60;
/** The newest of more are drawn behind the line. */
const pastBytesMax = 10_000;

interface Place {
  readonly at: number;
  readonly y: number;
  readonly point: ChartPoint;
}

interface Scale {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly low: number;
  readonly high: number;
}

/** Nothing where there is no point to draw. */
export function showChart({ label, points, past = [], markMeans, pastMeans }: Chart): Html | '' {
  const scale = scaleOf([points, ...past]);
  if (scale === undefined) return '';
  const placed = points.map((point) => placeOf(point, scale));
  const marked = placed.filter(({ point }) => point.mark !== undefined).slice(-marksMax);
  const pastPaths = past.map((line) => pathOf(line.map((point) => placeOf(point, scale))));
  const isDotted = placed.length <= dotsMax;
  return html`<figure class="chart">
    <svg role="img" aria-label="${label}">
      ${showGrid(scale)}
      <svg width="100%" height="${height}" viewBox="0 0 10000 ${height}" preserveAspectRatio="none">
        ${fitting(pastPaths, pastBytesMax).map((line) => html`<path class="past" d="${line}" />`)}
        <path class="line" d="${pathOf(placed)}" />
      </svg>
      ${placed.map((place, index) => (isDotted || isAlone(placed, index) ? showDot(place) : ''))}
      ${marked.map(({ at, y }) => html`<svg class="changed" x="${at}%" y="${y}"><path d="M0-6 6 0 0 6-6 0Z" /></svg>`)}
      ${showLabels(scale)} ${placed.length > hitsMax ? '' : placed.map((place, index) => showHit(place, placed, index))}
    </svg>
    ${showKey({ hasPast: past.length > 0, hasMarks: marked.length > 0 }, { markMeans, pastMeans })}
  </figure>`;
}

function scaleOf(lines: readonly (readonly ChartPoint[])[]): Scale | undefined {
  let [fromSeconds, toSeconds, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const line of lines) {
    for (const { month, value } of line) {
      const [at, number] = [secondsOf(month), Number(value)];
      fromSeconds = Math.min(fromSeconds, at);
      toSeconds = Math.max(toSeconds, at);
      low = Math.min(low, number);
      high = Math.max(high, number);
    }
  }
  if (!Number.isFinite(toSeconds - fromSeconds)) return undefined;
  const [rangeLow, rangeHigh] = valueRange(low, high);
  // Beyond what a number can hold nothing is drawn; the table has it.
  if (!Number.isFinite(rangeHigh - rangeLow)) return undefined;
  return { fromSeconds, toSeconds, low: rangeLow, high: rangeHigh };
}

/** The first moment of a month. `Date.UTC` takes the years 0 to 99 as 1900 to 1999. */
function secondsOf(month: string): number {
  return Date.parse(`${month}-01T00:00:00Z`) / 1000;
}

function placeOf(point: ChartPoint, scale: Scale): Place {
  return { at: alongOf(secondsOf(point.month), scale), y: downOf(Number(point.value), scale), point };
}

/** Per cent of the width, with room at both ends for dots. A single month stands in the middle. */
function alongOf(seconds: number, { fromSeconds, toSeconds }: Scale): number {
  if (fromSeconds === toSeconds) return 50;
  return round(1 + (98 * (seconds - fromSeconds)) / (toSeconds - fromSeconds), 100);
}

function downOf(value: number, { low, high }: Scale): number {
  // Divided first: a product of the largest values would be beyond what a number can hold.
  return round(bottom - (bottom - top) * ((value - low) / (high - low)), 10);
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}

/** A month without a point interrupts the line: it is no zero, and nothing between its neighbours. */
function pathOf(places: readonly Place[]): string {
  return places
    .map(({ at, y, point }, index) => {
      const before = places[index - 1];
      const isNext = before !== undefined && monthsBetween(before.point.month, point.month) === 1;
      return `${isNext ? 'L' : 'M'}${Math.round(at * 100)} ${y}`;
    })
    .join('');
}

function monthsBetween(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0] = from.split('-').map(Number);
  const [toYear = 0, toMonth = 0] = to.split('-').map(Number);
  return (toYear - fromYear) * 12 + toMonth - fromMonth;
}

function isAlone(places: readonly Place[], index: number): boolean {
  const { point } = places[index] as Place;
  const [before, after] = [places[index - 1], places[index + 1]];
  const isNear = (one: Place | undefined): boolean =>
    one !== undefined && Math.abs(monthsBetween(one.point.month, point.month)) === 1;
  return !isNear(before) && !isNear(after);
}

function showDot({ at, y }: Place): Html {
  return html`<circle class="dot" cx="${at}%" cy="${y}" r="2.5" />`;
}

/** The month and value of a point, for a pointer anywhere above or below it. */
function showHit({ at, point }: Place, places: readonly Place[], index: number): Html {
  const [before, after] = [places[index - 1]?.at ?? at - 2, places[index + 1]?.at ?? at + 2];
  const [from, to] = [Math.max(0, (before + at) / 2), Math.min(100, (at + after) / 2)];
  const { month, value, mark } = point;
  return html`<rect class="hit" x="${round(from, 100)}%" width="${round(to - from, 100)}%" y="0" height="${bottom}">
    <title>${month}: ${groupDecimal(value)}${mark === undefined ? '' : `, ${mark}`}</title>
  </rect>`;
}

const valueLabels = 5;
const monthLabels = 5;

function showGrid(scale: Scale): Html {
  const lines = valueTicks(scale.low, scale.high, valueLabels).map(({ at }) => downOf(at, scale));
  return html`${lines.map((y) => html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}" />`)}`;
}

/** Over the lines, which run to both ends. */
function showLabels(scale: Scale): Html {
  const { fromSeconds, toSeconds, low, high } = scale;
  return html`${valueTicks(low, high, valueLabels).map(
    ({ at, label }) => html`<text x="0" y="${downOf(at, scale) - 4}">${label}</text>`,
  )}
  ${monthTicks(fromSeconds, toSeconds, monthLabels).map(({ at, label }) => {
    const along = alongOf(at, scale);
    const side = along < 6 ? 'from' : along > 94 ? 'to' : 'along';
    return html`<text class="${side}" x="${along}%" y="${height - 6}">${label}</text>`;
  })}`;
}

function showKey(
  { hasPast, hasMarks }: { readonly hasPast: boolean; readonly hasMarks: boolean },
  { markMeans, pastMeans }: Pick<Chart, 'markMeans' | 'pastMeans'>,
): Html | '' {
  if (!hasPast && !hasMarks) return '';
  return html`<figcaption>
    <span><span class="key line" aria-hidden="true">━</span>now</span>
    ${hasPast ? html`<span><span class="key" aria-hidden="true">─</span>${pastMeans}</span>` : ''}
    ${hasMarks ? html`<span><span class="key changed" aria-hidden="true">◇</span>${markMeans}</span>` : ''}
  </figcaption>`;
}
