/** Lines over minutes, one chart below the other, in the colours of a light or a dark page. */

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [minute: number, value: number])[];
}

const [width, height, labels, gap] = [720, 60, 190, 24];

export function lineChart(lines: readonly Line[], title: string): string {
  const top = 34;
  const minutes = Math.max(...lines.flatMap(({ points }) => points.map(([minute]) => minute)));
  const parts = lines.flatMap(({ name, points }, index) => {
    const base = top + index * (height + gap) + height;
    const largest = Math.max(1, ...points.map(([, value]) => value)) * 1.1;
    // A line needs no more points than it has pixels.
    const step = Math.ceil(points.length / (width - labels - 80));
    const shown = points.filter((_, at) => at % step === 0 || at === points.length - 1);
    const places = shown.map(([minute, value]) => {
      const x = labels + (minute / minutes) * (width - labels - 80);
      return `${x.toFixed(1)},${(base - (value / largest) * height).toFixed(1)}`;
    });
    const last = points.at(-1)?.[1] ?? 0;
    return [
      `<text x="${labels - 10}" y="${base - height / 2}" class="name">${name}</text>`,
      `<line x1="${labels}" y1="${base}" x2="${width - 80}" y2="${base}"/>`,
      `<polyline points="${places.join(' ')}"/>`,
      `<text x="${width - 72}" y="${base - (last / largest) * height}">${last.toFixed(last < 10 ? 1 : 0)}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + lines.length * (height + gap)}" role="img" aria-label="${title}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; dominant-baseline: central }
  .title { font-weight: 600 }
  .name { text-anchor: end }
  line { stroke: #d0d7de }
  polyline { fill: none; stroke: #0969da; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    line { stroke: #3d444d }
    polyline { stroke: #4493f8 }
  }
</style>
<text x="0" y="14" class="title">${title}</text>
${parts.join('\n')}
</svg>
`;
}
