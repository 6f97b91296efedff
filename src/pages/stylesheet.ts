/** The stylesheet of all pages, light and dark from the same variables. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: #fff; --raised: #f6f7f9; --line: #d9dde3; --text: #1b1f24; --quiet: #59636e;
  --accent: #1f5fd0; --on-accent: #fff; --good: #1a7f37; --bad: #b3261e; --busy: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1c2026; --line: #363c45; --text: #e6e9ed; --quiet: #9da7b3;
    --accent: #7db0ff; --on-accent: #0d1622; --good: #57c274; --bad: #ff8f85; --busy: #e0b050;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
code, pre { font: 0.87em/1.5 ui-monospace, monospace; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus, section:focus { outline: none; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--ground); padding: 0.25rem 0.75rem; z-index: 1; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header {
  display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: center;
  padding: 0 1.5rem; border-bottom: 1px solid var(--line); background: var(--raised);
}
.brand { font-weight: 600; color: inherit; text-decoration: none; padding: 0.75rem 0; }
.brand span { font-weight: 400; color: var(--quiet); }
header ul { display: flex; flex-wrap: wrap; list-style: none; margin: 0 -0.6rem; padding: 0; }
header li a { display: block; padding: 0.75rem 0.6rem; color: var(--quiet); text-decoration: none; }
header li a:hover { color: var(--text); }
header li a[aria-current] { color: var(--text); box-shadow: inset 0 -2px var(--accent); }

main { max-width: 76rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 0 0 0.25rem; }
h3 { font-size: 1rem; margin: 0; }
h3 code { color: var(--quiet); font-weight: 400; margin-left: 0.4rem; }
p { margin: 0 0 0.75rem; }
.lead { color: var(--quiet); max-width: 46rem; }
.quiet, .hint { color: var(--quiet); }
.hint { font-size: 0.87rem; margin: 0.2rem 0 0; }
.heading { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; justify-content: space-between; align-items: start; }
.links a { margin-left: 1rem; }
.card, .empty { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; margin: 0 0 1.5rem; }
.card > :last-child, .empty > :last-child, :is(.card, .empty) > .code:last-child pre { margin-bottom: 0; }
.card h2:not(:first-child) { margin-top: 1.5rem; } .card > h1:first-child, .card > h2:first-child { margin-top: 0; }
.empty { background: var(--raised); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 0.75rem; padding: 0.6rem 0.8rem; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); }
.code { position: relative; } .copy { display: none; position: absolute; top: 0.35rem; right: 0.35rem; padding: 0.1rem 0.5rem; font-size: 0.8rem; color: var(--quiet); }
.copies .copy { display: block; opacity: 0; } .copies .code:hover .copy, .copies .copy:focus-visible { opacity: 1; }
.breaks { overflow-wrap: anywhere; }
summary { cursor: pointer; }

.state { display: inline-grid; grid-template-columns: auto auto; white-space: normal; }
.state .shape { display: inline-block; width: 1.2em; text-align: left; }
.good .shape { color: var(--good); } .bad .shape { color: var(--bad); }
.busy .shape { color: var(--busy); } .idle .shape { color: var(--quiet); }
.problems { border: 1px solid var(--bad); border-radius: 8px; padding: 0.75rem 1.25rem; margin: 0 0 1.5rem; }
.problems p { margin: 0; } .problems ul { margin: 0.25rem 0 0; padding-left: 1.25rem; }
.problems [aria-hidden] { color: var(--bad); }

.scroll {
  overflow-x: auto; margin: 0 0 1rem; position: relative;
  /* A shadow at the side on which there is more. */
  background:
    linear-gradient(to right, var(--ground) 40%, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--ground) 40%, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to right, var(--line), transparent) left / 0.75rem 100% no-repeat scroll,
    linear-gradient(to left, var(--line), transparent) right / 0.75rem 100% no-repeat scroll;
}
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 1.25rem 0.4rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-size: 0.87rem; white-space: nowrap; }
time, .number, .action { white-space: nowrap; }
.word { overflow-wrap: normal; } .columns .row { white-space: nowrap; }
.cards .row { min-width: 13rem; } .cards td:not([class]), .cards td[class=""] { min-width: 8rem; }
.prose { min-width: 16rem; }
.number { text-align: right; }
td a:not(:last-child) { margin-right: 0.6rem; }
.minor { display: block; margin: 0; font-size: 0.8rem; color: var(--quiet); } .minor code { font-size: inherit; } .row .minor { white-space: nowrap; }
.search { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0 0 1rem; } .search input { flex: 0 1 24rem; min-width: 0; }

.split { display: grid; grid-template-columns: minmax(14rem, 18rem) minmax(0, 1fr); gap: 2.5rem; align-items: start; }
.tree { position: sticky; top: 0; max-height: max(24rem, 76vh); display: flex; flex-direction: column; padding: 2px 0 1rem; }
.tree > ul { overflow-y: auto; }
.tree ul { list-style: none; margin: 0; padding: 0 0 0 1rem; border-left: 1px solid var(--line); }
.tree > ul { padding: 0; border: 0; }
.tree a, .tree summary { display: block; padding: 0.2rem 0.5rem; border-radius: 5px; text-decoration: none; }
.tree summary { color: var(--quiet); }
.tree summary::before { content: "▸"; display: inline-block; width: 1.1em; }
.tree details[open] > summary::before { content: "▾"; }
.tree summary { list-style: none; padding-left: 0; display: grid; grid-template-columns: 1.1em minmax(0, 1fr) auto; }
.tree .count { font-size: 0.87rem; } .tree li.quiet { padding: 0.2rem 0.5rem; font-size: 0.87rem; }
 summary::-webkit-details-marker { display: none; }
.tree a:hover { background: var(--raised); }
.tree a[aria-current] { background: var(--raised); box-shadow: inset 2px 0 var(--accent); color: var(--text); font-weight: 600; }
.tree .row { display: flex; gap: 0.4rem; margin: 0.2rem 0 0.6rem; } .tree .row input { min-width: 0; flex: 1; }
.tree > p { font-size: 0.87rem; margin: 0 0 0.4rem; }
.path { margin: 0; font-size: 0.87rem; } .path + h2 { margin-top: 0.35rem; }
.plain { margin: 0.25rem 0 0.5rem; padding-left: 1.6rem; }

.chart { margin: 0.5rem 0 1rem; } .chart > svg { display: block; width: 100%; height: 260px; overflow: visible; }
.chart svg svg { overflow: visible; }
.chart text { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; } .chart .from { text-anchor: start; } .chart .along { text-anchor: middle; } .chart .to { text-anchor: end; }
.chart .grid { stroke: var(--line); fill: none; } .chart path { fill: none; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.chart .line { stroke: var(--accent); stroke-width: 2; } .chart .past { stroke: var(--quiet); stroke-width: 1; opacity: 0.45; }
.chart .dot { fill: var(--accent); } .chart .changed path { fill: var(--ground); stroke: var(--busy); stroke-width: 2; }
.chart .hit { fill: transparent; } .chart .hit:hover { fill: var(--quiet); fill-opacity: 0.12; }
.chart figcaption { color: var(--quiet); font-size: 0.87rem; display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.key { display: inline-block; width: 1.4em; text-align: center; } .key.line { color: var(--accent); } .key.changed { color: var(--busy); }
.years { font-size: 0.93rem; } .years td, .years th { padding-right: 0.6rem; white-space: nowrap; } .years .changed::before { content: "◆ "; color: var(--busy); font-size: 0.8em; }
.years td del, .years td .was { display: block; font-size: 0.8rem; color: var(--quiet); }

label, .label { font-weight: 600; }
.field { margin: 0 0 1.1rem; max-width: 34rem; }
.field > label { display: block; margin-bottom: 0.25rem; }
input:not([type=checkbox]), select, textarea, button, .button {
  font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: 0.4rem 0.65rem; max-width: 100%;
}
.field > input:not([type=checkbox]), .field > select, .field > textarea { display: block; width: 100%; border-color: var(--quiet); }
input[readonly] { background: var(--raised); color: var(--quiet); }
input[type=checkbox] { accent-color: var(--accent); }
button, .button { cursor: pointer; background: var(--raised); display: inline-block; text-decoration: none; }
.primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
button.plain { background: none; border: 0; padding: 0; margin: 0; color: var(--accent); text-decoration: underline; }
.verdict { font-size: 1.25rem; font-weight: 600; margin: 0; } .verdict .quiet { font-size: 1rem; font-weight: 400; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; margin: 0 0 1.75rem; }
.facts > div { background: var(--ground); padding: 0.85rem 1.1rem; } .facts dt { color: var(--quiet); font-size: 0.87rem; } .facts dd { margin: 0; font-weight: 600; } .facts dd p { margin: 0; font-weight: 400; font-size: 0.87rem; color: var(--quiet); }
.concerns { list-style: none; margin: 0.75rem 0 1.5rem; padding: 0; } .concerns li { margin: 0 0 0.4rem; } .concerns .state .shape { width: 1.5em; } .concerns li p { margin-left: 1.5em; }
section > h2 { margin: 1.5rem 0 0.5rem; } [role=status] + p { margin: 0.25rem 0 0 1.6rem; } section { margin: 0 0 2rem; }
.held { border: 1px solid var(--bad); border-radius: 8px; padding: 0.9rem 1.25rem; margin: 0 0 1.25rem; } .held > :last-child { margin-bottom: 0; } .held h3 { margin-bottom: 0.25rem; }
.more-link { margin: 0; } .pager { display: flex; gap: 1.5rem; }
footer { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem 2rem; color: var(--quiet); font-size: 0.87rem; } footer code { overflow-wrap: anywhere; }
tr.is-current { background: var(--raised); }

@media (max-width: 46rem) {
  header { padding: 0 1rem; } main { padding: 1rem; }
  .brand { padding-bottom: 0; } header ul { margin: 0 -0.35rem; } header li a { padding: 0.5rem 0.35rem; font-size: 0.93rem; }
  .wide { display: none; }
  .columns th, .columns td { padding-right: 0.75rem; } .columns thead th { white-space: normal; overflow-wrap: normal; vertical-align: bottom; }
  .cards, .cards tbody, .cards tr, .cards td, .cards th { display: block; } .cards thead { position: absolute; clip-path: inset(50%); }
  .cards tr { border-bottom: 1px solid var(--line); padding: 0.6rem 0; }
  .cards tbody tr:first-child { border-top: 1px solid var(--line); }
  .cards td, .cards .row { border: 0; padding: 0.1rem 0; min-width: 0; text-align: left; overflow-wrap: anywhere; }
  .cards td[data-name]:not(.action) { padding-left: 9rem; position: relative; }
  .cards td[data-name]::before { content: attr(data-name); position: absolute; left: 0; max-width: 8.75rem; color: var(--quiet); white-space: normal; }
  .cards td:empty { display: none; } .cards .row { font-weight: 600; } .cards .row .minor { font-weight: 400; }
  .lines, .lines tbody, .lines tr, .lines th { display: block; } .lines thead { position: absolute; clip-path: inset(50%); } .lines tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; } .lines tr:first-child { border-top: 1px solid var(--line); }
  .lines td, .lines .row { border: 0; padding: 0; } .lines td { display: inline-block; font-size: 0.93rem; } .lines td:not(.wide) { margin-right: 1rem; } .lines .wide { display: none; }
  .split { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
  .tree { position: static; max-height: 22rem; border-bottom: 1px solid var(--line); }
  .links a:first-child { margin-left: 0; } footer { padding: 0 1rem 2rem; }
}
`;
