/** What only the console's pages have: forms of routers, the picker of models, stages of a pipeline. */
import { stylesheet as common } from '../../pages/stylesheet.ts';

export const stylesheet = `${common}
.five { grid-template-columns: repeat(5, 1fr); } .facts a, .rows a, .tree a { text-decoration: none; } .facts a:hover, .rows a:hover { text-decoration: underline; }
.time { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: center; padding: 0.75rem 1.25rem; } .time > * { margin: 0 !important; } .time > p { flex: 1 1 20rem; } .time form { display: flex; gap: 0.5rem; align-items: center; } .time label { font-weight: 400; }
.last-push { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: baseline; padding: 0.75rem 1.25rem; } .last-push > * { margin: 0; } .last-push > p.quiet { flex: 1; } .last-push > details[open] { flex-basis: 100%; }
.asking h1 + p { font-weight: 600; } .bad:is(button) { background: var(--bad); border-color: var(--bad); color: var(--ground); } .asking .button { flex: 1; text-align: center; padding: 0.55rem; }
.notice { display: flex; gap: 0.75rem; padding: 0.6rem 1rem; border: 1px solid var(--line); border-left: 3px solid var(--good); border-radius: 6px; background: var(--raised); margin: 0 0 1.25rem; }
.choice { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; justify-content: space-between; align-items: center; margin: 0 0 1rem; } .choice .search { margin: 0; flex: 0 1 26rem; } .choice .search input { flex: 1; }
.segments { display: flex; flex-wrap: wrap; list-style: none; margin: 0; padding: 2px; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
.segments a { display: block; padding: 0.25rem 0.7rem; border-radius: 6px; color: var(--quiet); text-decoration: none; } .segments a:hover { color: var(--text); }
.segments a[aria-current] { background: var(--ground); color: var(--text); box-shadow: 0 1px 2px rgb(0 0 0 / 12%); } .segments .count { font-size: 0.8rem; color: var(--quiet); }
.thumbnails { display: flex; gap: 0.3rem; align-items: center; } .thumbnails img { display: block; height: 2.4rem; max-width: 4.5rem; border-radius: 4px; }
.outputs { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 0.75rem; margin: 0 0 2rem; } .outputs img, .outputs video { display: block; width: 100%; max-height: 28rem; object-fit: contain; border-radius: 8px; background: var(--raised); } .outputs audio { width: 100%; }
blockquote { margin: 0; padding: 0 0 0 1rem; border-left: 3px solid var(--line); white-space: pre-wrap; }
.list { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); margin: 0 0 2rem; border-top: 1px solid var(--line); } .list dt, .list dd { margin: 0; padding: 0.5rem 0; border-bottom: 1px solid var(--line); } .list dt { color: var(--quiet); }
.under-way { padding: 2rem; } .under-way .code { margin-top: 0.75rem; } .under-way p { margin: 1rem 0 0; } .under-way progress { height: 6px; margin-top: 1rem; }
table a, .path a { text-decoration: none; } table a:hover, .path a:hover { text-decoration: underline; } .word .state, .minor:not(code) { white-space: nowrap; } code.minor { overflow-wrap: anywhere; } .heading { margin: 0 0 0.75rem; } .heading > h1 { margin: 0; } .path + .heading, .path + h1 { margin-top: 0.25rem; }
.only-live { display: none; } .live .only-live { display: flex; } .tail { gap: 1rem; align-items: center; }
.halves.even { grid-template-columns: repeat(2, minmax(0, 1fr)); } .halves h3 { margin: 1.25rem 0 0.4rem; } .list.headers { grid-template-columns: 11rem minmax(0, 1fr); font-size: 0.93rem; }
.code pre { max-height: 32rem; overflow-y: auto; }
.halves { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0 3rem; align-items: start; }
.halves section > h2 { margin-top: 0; }
.ways { border: 1px solid var(--line); border-radius: 8px; } .ways details { padding: 0 1rem; } .ways details + details { border-top: 1px solid var(--line); }
.ways summary { padding: 0.6rem 0; font-weight: 600; } .ways details[open] > summary { padding-bottom: 0.35rem; } .ways .hint { margin: 0.4rem 0 0.3rem; }
.ways .code:last-child { padding-bottom: 0.25rem; }
.rows { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.rows li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 1rem; padding: 0.55rem 0; border-bottom: 1px solid var(--line); }
.rows .main { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .rows .quiet { grid-row: 2; font-size: 0.87rem; }
.rows .end { grid-column: 2; grid-row: 1 / span 2; align-self: center; text-align: right; }
progress { display: block; appearance: none; width: 100%; min-width: 5rem; height: 4px; margin: 0.3rem 0 0; border: 0; border-radius: 2px; overflow: hidden; background: var(--line); color: var(--accent); }
progress::-webkit-progress-bar { background: var(--line); } progress::-webkit-progress-value { background: var(--accent); transition: width 1s linear; } progress::-moz-progress-bar { background: var(--accent); }
.switch { display: grid; grid-template-columns: auto 1fr; gap: 0 0.6rem; align-items: center; }
.switch > label { margin: 0; } .switch .hint { grid-column: 2; margin: 0; }
.switch input {
  appearance: none; width: 2.3rem; height: 1.3rem; margin: 0; border-radius: 1rem; cursor: pointer;
  border: 1px solid var(--quiet); background: radial-gradient(circle at 0.6rem 50%, var(--quiet) 0.4rem, transparent 0.43rem) var(--ground);
}
.switch input:checked { border-color: var(--accent); background: radial-gradient(circle at 1.55rem 50%, var(--on-accent) 0.4rem, transparent 0.43rem) var(--accent); }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0 1.25rem; max-width: 34rem; }
.bench { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 2.5rem; align-items: start; } .bench > section > :first-child { margin-top: 0; } .bench h2 { margin: 1.5rem 0 0.4rem; }
@media (min-height: 62rem) { .playground { position: sticky; top: 0.5rem; } } .playground .grid { grid-template-columns: repeat(2, minmax(0, 1fr)); } .playground .actions { margin: 1.25rem 0 0.4rem; }
.own { display: none; } .playground:has(#modality-video:checked) .own.video, .playground:has(#modality-image:checked) .own.image, .playground:has(#modality-audio:checked) .own.audio { display: grid; }
.deeds { display: flex; gap: 0.9rem; } table td .deeds > a { margin: 0; } .deeds button.plain { text-decoration: none; } .deeds button.plain:hover { text-decoration: underline; } section > form { margin: 0 0 1rem; } .fault .own { display: none; }
.fault:has([value=refuses]:checked) .own.refuses, .fault:has([value=slow]:checked) .own.slow, .fault:has([value=cut]:checked) .own.cut, .fault:has([value=task-fails]:checked) .own.task-fails { display: block; }
@supports not selector(:has(*)) { .own { display: grid; } .fault .own { display: block; } }
.radios { display: grid; grid-template-columns: repeat(3, 1fr); } .radios label { padding: 0.3rem 0; border-radius: 6px; text-align: center; color: var(--quiet); cursor: pointer; font-weight: 400; } .radios input { position: absolute; opacity: 0; }
.radios label:has(:checked) { background: var(--ground); color: var(--text); font-weight: 600; box-shadow: 0 1px 2px rgb(0 0 0 / 12%); } .radios label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 1px; }
.invitation { padding: 2.5rem; text-align: center; } .invitation h2 { margin-top: 0 !important; } .invitation p { max-width: 32rem; margin: 0 auto; color: var(--quiet); }
.figures { display: flex; flex-wrap: wrap; gap: 0.5rem 1.75rem; margin: 0.75rem 0; } .figures dt { color: var(--quiet); font-size: 0.87rem; } .figures dd { margin: 0; font-weight: 600; }
.ranking td:first-child, .ranking th:first-child { width: 2rem; color: var(--quiet); } .ranking .wide:last-child { width: 30%; vertical-align: middle; } .runs { gap: 0 2rem; } .runs > div { display: grid; grid-template: subgrid / minmax(0, 1fr); grid-row: span 6; } .runs .card { margin: 0; } .runs .funnel code { display: none; } .runs .funnel summary { grid-template-columns: minmax(0, 1fr) auto 2.2rem; } .runs .funnel .bar { grid-column: 1 / -1; grid-row: 2; height: 0.4rem; } .runs .ranking .wide { display: none; }
fieldset { border: 0; margin: 0 0 1.1rem; padding: 0; } legend { padding: 0; font-weight: 600; }
.targets { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.6rem; max-width: 34rem; } .targets legend { margin-bottom: 0.25rem; }
.targets label { display: grid; grid-template-columns: auto 1fr; gap: 0 0.5rem; align-items: baseline; padding: 0.55rem 0.75rem; border: 1px solid var(--quiet); border-radius: 8px; cursor: pointer; }
.targets label:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); } .targets input { margin: 0; accent-color: var(--accent); } .targets .hint { grid-column: 2; margin: 0; font-weight: 400; }
.ceilings { max-width: 34rem; } .ceilings .field { margin: 0.25rem 0 0; } .ceilings .grid { grid-template-columns: repeat(3, minmax(0, 1fr)); }
[aria-invalid] { border-color: var(--bad) !important; }
.only-script { display: none; } .scripted .only-script { display: inline; }
.picker { margin-top: 1rem; } .picker .heading { margin: 0; align-items: baseline; } .picker th.number:not(:last-child) { width: 6.5rem; } .columns .picker .row, .picker .columns .row { white-space: normal; }
form.router > .actions { position: sticky; bottom: 0; margin: 0; padding: 0.9rem 0; background: var(--ground); border-top: 1px solid var(--line); } .picker .links input { padding: 0.15rem 0.5rem; } .picker legend button, .picker .links button { margin-left: 0.75rem; }
.picker table .row { font-weight: 400; } .picker table label { font-weight: 400; } .picker table { font-size: 0.93rem; } .picker .above { color: var(--bad); font-size: 0.87rem; white-space: nowrap; } .picker .quality { width: 9rem; } .quality .bar { display: inline-block; width: 4rem; height: 0.5rem; margin-left: 0.4rem; background: var(--line); border-radius: 3px; }
.picker fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 0.75rem 0; padding: 0.5rem 1rem 0.75rem; }
.picker legend { padding: 0 0.4rem; color: var(--quiet); } .picker .label { margin: 0; }
.more { margin: 0 0 1.1rem; } .more .field { margin-top: 0.5rem; } ::file-selector-button { font: inherit; margin-right: 0.75rem; padding: 0.1rem 0.6rem; border: 1px solid var(--line); border-radius: 5px; background: var(--ground); color: var(--text); } textarea.code { font: 0.87em/1.5 ui-monospace, monospace; }
.actions { display: flex; gap: 1rem; align-items: center; margin: 1.25rem 0; }
.danger { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1rem; } .danger .hint { margin-bottom: 0.5rem; }

.funnel { list-style: none; margin: 0.5rem 0 1rem; padding: 0; border-top: 1px solid var(--line); } .funnel li { border-bottom: 1px solid var(--line); } .funnel li > p { margin: 0; padding: 0.45rem 0; }
.funnel summary { display: grid; grid-template-columns: minmax(8rem, 16.5rem) minmax(3rem, 1fr) minmax(2.2rem, auto) 2.2rem; gap: 0 0.75rem; align-items: center; padding: 0.45rem 0; list-style: none; }
.funnel summary:hover { background: var(--raised); } .funnel .stage { font-weight: 600; } .funnel code { font-weight: 400; color: var(--quiet); }
.funnel .stage::before { content: "▸"; display: inline-block; width: 1em; color: var(--quiet); font-weight: 400; } .funnel [open] .stage::before { content: "▾"; } .funnel p .stage::before { content: ""; }
.bar { display: block; width: 100%; height: 0.8rem; } .bar rect { fill: var(--accent); }
.funnel .left, .funnel .fell { text-align: right; } .funnel .fell { color: var(--quiet); font-size: 0.87rem; }
.funnel dl { display: grid; grid-template-columns: fit-content(22rem) minmax(0, 1fr); gap: 0.15rem 1rem; margin: 0 0 0.6rem 1em; width: fit-content; } .funnel dd { margin: 0; color: var(--quiet); }
.names { color: var(--quiet); margin: 0 0 0.6rem 1em; font-size: 0.93rem; }

.asking { max-width: 32rem; margin: 0 auto; padding-top: max(2rem, 12vh); } .asking .brand { margin: 0; padding-bottom: 0.75rem; } .asking .card { padding: 1.5rem 1.75rem; box-shadow: 0 1px 3px rgb(0 0 0 / 8%); }
.asking .actions { margin: 1.5rem 0 0; } .asking .actions button { flex: 1; padding: 0.55rem; }
.scopes { list-style: none; padding: 0; margin: 0.25rem 0 1rem; } .scopes li { padding: 0.5rem 0; border-bottom: 1px solid var(--line); } .scopes code { display: block; color: var(--quiet); }
@media (max-width: 46rem) {
  header li a { padding: 0.5rem 0.28rem; font-size: 0.8rem; } header ul { margin: 0 -0.28rem; }
  .five { grid-template-columns: 1fr 1fr; } .five > :first-child { grid-column: 1 / -1; }
  .picker fieldset { padding: 0.5rem 0.6rem 0.75rem; } .picker .quality .bar { display: none; } .picker .quality, .picker th.number:not(:last-child) { width: auto; } .picker .columns :is(th, td) { padding-right: 0.4rem; font-size: 0.85rem; } .picker .model { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.3rem; } .picker .model > :nth-child(n + 3) { grid-column: 2; } .picker .above { display: block; } .picker .above[hidden] { display: none; } .picker .links input { width: 8rem; } .picker .links { margin: 0.25rem 0; }
  .bench { grid-template-columns: minmax(0, 1fr); } .playground { position: static !important; }
  .segments a { padding: 0.25rem 0.45rem; font-size: 0.87rem; }
  .halves, .halves.even { grid-template-columns: minmax(0, 1fr); }
  .funnel dl { grid-template-columns: minmax(0, 1fr); } .funnel dd { margin-bottom: 0.4rem; } .funnel summary { grid-template-columns: minmax(0, 1fr) auto 2.2rem; } .funnel .bar { grid-column: 1 / -1; grid-row: 2; height: 0.4rem; }
}
`;
