/** `docs/overview.svg`: source, part, row, reading, driver, snapshot and push, as a picture. */

const width = 960;
const height = 394;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The picture; it has a light and a dark look, as the page around it. */
export function overviewPicture(): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 24 ${width} ${height}" role="img" aria-labelledby="title desc">
<title id="title">How numbers travel through driver-sync</title>
<desc id="desc">Files and databases are sources. A source has parts; a part has rows; each row gives readings. Readings of a month become a point of a driver. The guard accepts or holds what was read. All drivers together are a snapshot, which one push sends to the planning service.</desc>
<style>
  svg { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --fill: #f6f8fa; --accent: #0969da; --stop: #9a6700; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --fill: #151b23; --accent: #4493f8; --stop: #d29922; } }
  text { font: 13px system-ui, sans-serif; fill: var(--ink); }
  .title { font-weight: 600; font-size: 15px; }
  .soft { fill: var(--soft); }
  .data { font-family: ui-monospace, monospace; font-size: 12px; }
  .end { text-anchor: end; font-variant-numeric: tabular-nums; }
  .middle { text-anchor: middle; }
  .box { fill: var(--fill); stroke: var(--line); rx: 8px; }
  .arrow { fill: none; stroke: var(--soft); stroke-width: 1.5; }
  .series { fill: none; stroke: var(--accent); stroke-width: 2; }
  .stop { fill: none; stroke: var(--stop); stroke-width: 1.5; stroke-dasharray: 4 3; }
  .stopped { fill: var(--stop); }
  .head { fill: var(--soft); }
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>
${[source(), reading(), drivers(), snapshot(), guard()].join('\n')}
</svg>
`;
}

function box({ x, y, width: w, height: h }: Box, title: string, note: string): string {
  return `<rect class="box" x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>
<text class="title" x="${x + 14}" y="${y + 26}">${title}</text>
<text class="soft" x="${x + 14}" y="${y + 45}">${note}</text>`;
}

function arrow(from: readonly [number, number], to: readonly [number, number], label: string): string {
  const [x, y] = [(from[0] + to[0]) / 2, Math.min(from[1], to[1]) - 8];
  return `<path class="arrow" d="M${from.join(' ')} L${to.join(' ')}" marker-end="url(#head)"/>
<text class="soft middle" x="${x}" y="${y}">${label}</text>`;
}

function rows(x: number, y: number, lines: readonly (readonly string[])[], columns: readonly number[]): string {
  return lines
    .map((cells, row) =>
      cells
        .map((cell, column) => {
          const isLast = column === cells.length - 1;
          return `<text class="data${isLast ? ' end' : ''}" x="${x + (columns[column] ?? 0)}" y="${y + row * 20}">${cell}</text>`;
        })
        .join(''),
    )
    .join('\n');
}

function source(): string {
  const table = [
    ['2026-01-31', 'North', '1200.50'],
    ['2026-01-31', 'South', '800.00'],
    ['2026-02-28', 'North', '1310.00'],
  ];
  return [
    box({ x: 20, y: 40, width: 260, height: 190 }, 'source', 'some files, a sheet, a query'),
    '<rect class="box" x="40" y="102" width="232" height="114" rx="8"/>',
    '<text class="soft" x="52" y="122">part: revenue-2026.csv</text>',
    rows(52, 146, table, [0, 88, 206]),
    '<text class="soft" x="52" y="207">each line is a row</text>',
  ].join('\n');
}

function reading(): string {
  return [
    arrow([284, 136], [338, 136], ''),
    box({ x: 342, y: 40, width: 200, height: 190 }, 'reading', 'one value at one moment'),
    rows(
      356,
      122,
      [
        ['North', '2026-01-31', '1200.50'],
        ['South', '2026-01-31', '800.00'],
        ['North', '2026-02-28', '1310.00'],
      ],
      [0, 46, 174],
    ),
    '<text class="soft" x="356" y="196">what cannot be read</text>',
    '<text class="soft" x="356" y="214">is a reject, with its reason</text>',
  ].join('\n');
}

function drivers(): string {
  return [
    arrow([546, 136], [600, 136], ''),
    box({ x: 604, y: 40, width: 160, height: 190 }, 'driver', 'a point a month'),
    '<text class="data" x="618" y="116">Revenue / North</text>',
    '<polyline class="series" points="618,150 648,142 678,146 708,130 738,126"/>',
    '<text class="data" x="618" y="180">Revenue / South</text>',
    '<polyline class="series" points="618,212 648,206 678,209 708,204 738,196"/>',
  ].join('\n');
}

function snapshot(): string {
  return [
    arrow([768, 136], [816, 136], ''),
    box({ x: 820, y: 40, width: 124, height: 190 }, 'snapshot', 'all drivers'),
    '<text class="soft" x="834" y="116">kept, with its</text>',
    '<text class="soft" x="834" y="134">digest, to be</text>',
    '<text class="soft" x="834" y="152">compared and</text>',
    '<text class="soft" x="834" y="170">sent again</text>',
    '<path class="arrow" d="M882 234 L882 322" marker-end="url(#head)"/>',
    '<text class="soft end" x="874" y="284">push</text>',
    '<rect class="box" x="760" y="326" width="184" height="76" rx="8"/>',
    '<text class="title" x="774" y="352">planning service</text>',
    '<text class="soft" x="774" y="372">holds exactly this,</text>',
    '<text class="soft" x="774" y="390">and deletes all else</text>',
  ].join('\n');
}

function guard(): string {
  return [
    '<path class="stop" d="M573 62 L573 326"/>',
    '<rect class="box" x="330" y="326" width="410" height="76" rx="8"/>',
    '<text class="title" x="344" y="352">guard</text>',
    '<text x="404" y="352" class="soft">judges each new read before it counts</text>',
    '<text class="stopped" x="344" y="374">held: deletes too much, turned empty, values that look</text>',
    '<text class="stopped" x="344" y="391">like a slip; the last good data goes on being sent</text>',
    '<rect class="box" x="20" y="326" width="290" height="76" rx="8"/>',
    '<text class="title" x="34" y="352">explain</text>',
    '<text class="soft" x="34" y="372">from any point back to the file, the row</text>',
    '<text class="soft" x="34" y="390">and the text as it stood there</text>',
  ].join('\n');
}
