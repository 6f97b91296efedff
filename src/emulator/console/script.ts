/** The optional script of the pages: a chart beside the table of points, and forms that react while they are filled in. */
import { slugOf } from './slug.ts';
import { monthTicks, valueRange, valueTicks } from './ticks.ts';

export const script = `'use strict';
(() => {
  const chart = document.getElementById('chart');
  const points = [...document.querySelectorAll('data[data-time]')].reverse();
  if (chart && points.length > 0 && typeof uPlot === 'function') {
    ${monthTicks.toString()}
    ${valueRange.toString()}
    ${valueTicks.toString()}
    // Numbers are for drawing only. The table has the values as they were sent.
    const data = [points.map((point) => Number(point.dataset.time)), points.map((point) => Number(point.value))];
    const reading = document.getElementById('reading');
    const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    // uPlot must not choose steps of its own: it gets one that fits. Below 5 it would choose one nevertheless.
    const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false },
      incrs: (_self, _axis, min, max) => [Math.max(5, max - min)] };
    const along = (ticksOf, countOf) => {
      let ticks = [];
      return {
        splits: (self, _axis, min, max) => (ticks = ticksOf(min, max, countOf(self))).map(({ at }) => at),
        values: () => ticks.map(({ label }) => label),
      };
    };
    const read = (index) => {
      const point = points[index ?? points.length - 1];
      reading.textContent = point.dataset.month + ': ' + point.value;
    };
    chart.hidden = reading.hidden = false;
    const plot = new uPlot({
      width: chart.clientWidth, height: 260,
      legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
      // A single point stands in the middle of a month; uPlot would put it at the start of three years.
      scales: { x: { range: (_self, min, max) => (points.length > 1 ? [min, max] : [min - 1_300_000, min + 1_300_000]) }, y: { range: (_self, min, max) => valueRange(min, max) } },
      series: [{}, { stroke: colour('--accent'), width: 2, points: { show: points.length <= 60, size: 6, fill: colour('--accent') } }],
      axes: [
        { ...axis, ...along(monthTicks, (self) => Math.max(3, Math.floor(self.width / 70))) },
        { ...axis, ...along(valueTicks, () => 6), size: (_self, labels) => 18 + 8 * Math.max(4, ...(labels ?? []).map((label) => label.length)) },
      ],
      hooks: { setCursor: [(self) => read(self.cursor.idx)] },
    }, data, chart);
    read(null);
    plot.root.setAttribute('aria-hidden', 'true');
    new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: 260 })).observe(chart);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw());
  }

  // A long tree scrolls by itself; the page keeps its place.
  const tree = document.querySelector('.tree > ul');
  const current = tree?.querySelector('[aria-current]');
  if (current) tree.scrollTop = current.getBoundingClientRect().bottom - tree.getBoundingClientRect().bottom + tree.clientHeight / 2;

  const name = document.getElementById('name');
  const slug = document.getElementById('slug');
  if (name && slug && !slug.readOnly) {
    const derive = ${slugOf.toString()};
    let isOwn = slug.value !== '' && slug.value !== derive(name.value);
    slug.addEventListener('input', () => { isOwn = slug.value !== ''; });
    name.addEventListener('input', () => { if (!isOwn) slug.value = derive(name.value); });
  }

  const eligible = document.getElementById('eligible');
  const boxes = [...document.querySelectorAll('input[name=model]')];
  const count = () => { eligible.textContent = String(boxes.filter((box) => box.checked).length); };
  for (const box of boxes) box.addEventListener('change', count);
})();
`;
