/**
 * Plants every bug of `test/simulate/planted/plants.ts` and writes the tables of docs/HISTORIES.md: how many seeds each took, and which rule it breaks.
 * `node test/support/update-planted.ts`, some minutes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promises } from '../../src/simulate/promises.ts';
import { plants } from '../simulate/planted/plants.ts';
import { rulesTable } from '../simulate/planted/rules.ts';

const seeds = '1000';
const page = path.resolve(import.meta.dirname, '../../docs/HISTORIES.md');

const rows = plants.map(({ name, file }) => {
  const script = path.resolve(import.meta.dirname, 'planted.ts');
  const said = execFileSync(process.execPath, [script, name, seeds], { encoding: 'utf8' });
  const { seed, promise } = JSON.parse(said) as { seed?: number; promise?: keyof typeof promises };
  process.stderr.write(`${name}: ${seed ?? 'not found'}\n`);
  return `| ${name} | \`${file}\` | ${promise === undefined ? '–' : promises[promise]} | ${seed ?? `not within ${seeds}`} |`;
});
const table = ['| planted | in `src/` | what was found broken | seed |', '|---|---|---|---|', ...rows].join('\n');
const text = readFileSync(page, 'utf8');
writeFileSync(page, filled(filled(text, 'planted', table), 'rules', rulesTable()));

function filled(whole: string, name: string, written: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before = '', rest = ''] = whole.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n${written}\n${end}${after}`;
}
