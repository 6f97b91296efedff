/** What only the console's pages have: forms of routers, the picker of models, stages of a pipeline. */
import { stylesheet as common } from '../../pages/stylesheet.ts';

export const stylesheet = `${common}
.five { grid-template-columns: repeat(5, 1fr); } .facts a, .rows a, .tree a { text-decoration: none; } .facts a:hover, .rows a:hover { text-decoration: underline; }
.last-push { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: baseline; padding: 0.75rem 1.25rem; } .last-push > * { margin: 0; } .last-push > p.quiet { flex: 1; } .last-push > details[open] { flex-basis: 100%; }
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
.picker fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 0.75rem 0; padding: 0.5rem 1rem 0.75rem; }
.picker legend { padding: 0 0.4rem; color: var(--quiet); } .picker .label { margin: 0; }
.boxes { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(16.5rem, 1fr)); gap: 0.1rem 1rem; }
.boxes li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.5rem; align-items: baseline; }
.boxes li > span { display: flex; flex-wrap: wrap; gap: 0 0.5rem; } .boxes label { font-weight: 400; } .boxes .quiet { font-size: 0.87rem; }
.more { margin: 0 0 1.1rem; } .more .field { margin-top: 0.5rem; } textarea.code { font: 0.87em/1.5 ui-monospace, monospace; }
.actions { display: flex; gap: 1rem; align-items: center; margin: 1.25rem 0; }
.danger { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1rem; } .danger .hint { margin-bottom: 0.5rem; }

.stages { margin: 0.5rem 0 1rem; padding: 0; list-style: none; }
.stages > li { padding: 0 0 0.9rem 1.25rem; border-left: 1px solid var(--line); position: relative; }
.stages > li::before { content: ""; position: absolute; left: -4px; top: 0.55em; width: 7px; height: 7px; border-radius: 50%; background: var(--quiet); }
.stages p { margin: 0; } .stages dl { display: grid; grid-template-columns: fit-content(24rem) minmax(0, 1fr); gap: 0.15rem 1rem; margin: 0.25rem 0 0.25rem 1rem; width: fit-content; }
.stages dd { margin: 0; color: var(--quiet); } .stages .state { margin-right: 0.75rem; }
.names { color: var(--quiet); margin-left: 1rem !important; }

.asking { max-width: 32rem; padding-top: max(2rem, 12vh); } .asking .brand { margin: 0; padding-bottom: 0.75rem; } .asking .card { padding: 1.5rem 1.75rem; box-shadow: 0 1px 3px rgb(0 0 0 / 8%); }
.asking .actions { margin: 1.5rem 0 0; } .asking .actions button { flex: 1; padding: 0.55rem; }
.scopes { list-style: none; padding: 0; margin: 0.25rem 0 1rem; } .scopes li { padding: 0.5rem 0; border-bottom: 1px solid var(--line); } .scopes code { display: block; color: var(--quiet); }
@media (max-width: 46rem) {
  header li a { padding: 0.5rem 0.28rem; font-size: 0.8rem; } header ul { margin: 0 -0.28rem; }
  .five { grid-template-columns: 1fr 1fr; } .five > :first-child { grid-column: 1 / -1; }
  .halves { grid-template-columns: minmax(0, 1fr); }
  .stages dl { grid-template-columns: minmax(0, 1fr); } .stages dd { margin-bottom: 0.4rem; }
}
`;
