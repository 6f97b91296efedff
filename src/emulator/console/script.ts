/** What the pages are nicer with: a chart beside the table of points, and forms that answer while they are filled in. */
import { slugOf } from './slug.ts';

export const script = `'use strict';
(() => {
  const chart = document.getElementById('chart');
  const rows = [...document.querySelectorAll('tr[data-time]')].reverse();
  if (chart && rows.length > 0 && typeof uPlot === 'function') {
    // Numbers are for drawing only; what is read stands in the table as it was sent.
    const data = [rows.map((row) => Number(row.dataset.time)), rows.map((row) => Number(row.dataset.value))];
    const reading = document.getElementById('reading');
    const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const read = (index) => {
      const row = rows[index ?? rows.length - 1];
      reading.textContent = row.cells[0].textContent.trim() + ': ' + row.dataset.value;
    };
    chart.hidden = reading.hidden = false;
    const plot = new uPlot({
      width: chart.clientWidth, height: 260, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
      series: [{}, { stroke: colour('--accent'), width: 2, points: { show: rows.length <= 60, size: 6, fill: colour('--accent') } }],
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toISOString().slice(0, 7)), space: 70, incrs: [1, 2, 3, 6, 12, 24, 60, 120].map((n) => n * 2629800) },
        { ...axis, size: (self, values) => 18 + 8 * Math.max(4, ...(values ?? []).map((text) => text.length)), values: (_, ticks) => ticks.map((tick) => tick.toLocaleString('en-US', { maximumFractionDigits: 6 }).replaceAll(',', '\\u202f')) },
      ],
      hooks: { setCursor: [(self) => read(self.cursor.idx)] },
    }, data, chart);
    read(null);
    plot.root.setAttribute('aria-hidden', 'true');
    new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: 260 })).observe(chart);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw());
  }

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
