/** Every recipe of docs/COOKBOOK.md, run as it stands there. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import { parse } from 'yaml';
import { commandLine } from '../support/command-line.ts';
import { type TestWorld, world } from '../support/world.ts';

interface Recipe {
  readonly title: string;
  readonly files: readonly { readonly name: string; readonly sheet: string | undefined; readonly text: string }[];
  readonly sources: Readonly<Record<string, object>>;
  readonly drivers: string;
}

const cookbook = readFileSync(new URL('../../docs/COOKBOOK.md', import.meta.url), 'utf8');

const recipes = cookbook
  .split(/^## /m)
  .slice(1)
  .map((section): Recipe => {
    const block = (language: string): string => {
      const found = [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
      if (found.length !== 1) throw new Error(`${section.split('\n')[0]}: ${found.length} blocks of ${language}`);
      return found[0]![1]!;
    };
    const named = /^`([^`\n]+)`(?: \(sheet `([^`]+)`\))?\n\n```\w+\n([^]*?)^```$/gm;
    return {
      title: section.split('\n', 1)[0]!,
      files: [...section.matchAll(named)].map(([, name = '', sheet, text = '']) => ({ name, sheet, text })),
      sources: parse(block('yaml')) as Recipe['sources'],
      drivers: block('drivers'),
    };
  });

/** A file of text is written as it stands; others are made of what stands there. */
async function writeFiles(dir: string, { files }: Recipe): Promise<void> {
  for (const { name, sheet, text } of files) {
    const file = path.join(dir, name);
    if (name.endsWith('.db')) new Database(file).exec(text).close();
    else if (name.endsWith('.gz')) writeFileSync(file, gzipSync(text));
    else if (name.endsWith('.xlsx')) writeFileSync(file, await workbook(sheet, text));
    else writeFileSync(file, text);
  }
}

function workbook(sheet: string | undefined, text: string): Promise<Buffer> {
  const rows = text.trimEnd().split('\n');
  const cells = rows.map((row) => row.split(',').map(cellOf));
  return writeExcelFile(cells, { sheet: sheet ?? 'Sheet1' }).toBuffer();
}

function cellOf(text: string): object {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return { type: Date, value: new Date(`${text}T00:00:00Z`), format: 'mmm yyyy' };
  return /^\d/.test(text) ? { type: Number, value: Number(text) } : { type: String, value: text };
}

function shownDrivers(w: TestWorld): string {
  const paths = new Map(w.drivers().map(({ id, path: at }) => [id, at.join(' / ')]));
  const lines = Object.entries(w.points()).map(([id, points]) => {
    const shown = Object.entries(points).map(([month, value]) => `${month} ${value}`);
    return `${id} (${paths.get(id)}): ${shown.join(', ')}\n`;
  });
  return lines.toSorted().join('');
}

test('there are at least twenty recipes', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(20);
});

/** Files that hold still at once. */
function configOf({ sources }: Recipe): { readonly sources: Recipe['sources']; readonly timezone: string } {
  const settled = Object.entries(sources).map(([name, keys]) => [
    name,
    { ...('files' in keys ? { settle: '0s' } : {}), ...keys },
  ]);
  return { timezone: 'Europe/Berlin', sources: Object.fromEntries(settled) as Recipe['sources'] };
}

describe.each(recipes)('$title', (recipe) => {
  test('gives the drivers that stand there', async () => {
    await using w = await world({ config: configOf(recipe) });
    await writeFiles(w.dir, recipe);
    const { sources, outcome } = await w.sync();
    expect({ outcome, states: sources.map(({ state, reason }) => [state, reason]) }).toEqual({
      outcome: 'acknowledged',
      states: sources.map(() => ['accepted', undefined]),
    });
    expect(shownDrivers(w)).toBe(recipe.drivers);
  });

  test('has a config that check finds nothing wrong with', async () => {
    await using w = await world({ config: configOf(recipe) });
    await writeFiles(w.dir, recipe);
    const done = await commandLine('check', '--config', path.join(w.dir, 'driver-sync.yaml'), '--json');
    expect(done.json()).toMatchObject({ ok: true, problems: [] });
  });
});
