/** A table as bars of SVG, in the colours of a light or a dark page. */
import type { Table } from './measurement.ts';

const [width, barHeight, gap, labels, numbers] = [720, 18, 8, 190, 120];

/** The shortest bar first. Ours are of another colour, and the number behind each bar says the same in words. */
export function chart({ title, results }: Table): string {
  const sorted = results.toSorted((a, b) => a.seconds - b.seconds);
  const longest = Math.max(...sorted.map(({ seconds }) => seconds));
  const scale = (width - labels - numbers) / longest;
  const top = 34;
  const height = top + sorted.length * (barHeight + gap);
  const bars = sorted.flatMap(({ name, seconds, peakMb }, index) => {
    const y = top + index * (barHeight + gap);
    const length = Math.max(1, seconds * scale);
    const memory = Number.isFinite(peakMb) ? `, ${peakMb.toFixed(0)} MB` : '';
    const middle = y + barHeight / 2;
    return [
      `<text x="${labels - 8}" y="${middle}" class="name">${escape(name)}</text>`,
      `<rect x="${labels}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" class="${name.startsWith('sync') ? 'ours' : 'peer'}"/>`,
      `<text x="${(labels + length + 6).toFixed(1)}" y="${middle}">${seconds.toFixed(2)} s${memory}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; dominant-baseline: central }
  .title { font-weight: 600 }
  .name { text-anchor: end }
  .ours { fill: #0969da }
  .peer { fill: #afb8c1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .ours { fill: #4493f8 }
    .peer { fill: #57606a }
  }
</style>
<text x="0" y="14" class="title">${escape(title)}: seconds and peak memory</text>
${bars.join('\n')}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
