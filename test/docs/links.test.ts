/** The pages of docs name files of this repository and each other: every name leads somewhere. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const pages = [
  ...readdirSync(path.join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  'README.md',
  'CONTRIBUTING.md',
];

test.each(pages)('%s names files that are there', (page) => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const named = [...text.matchAll(/`((?:src|test|bench|docs|config)\/[\w./-]+\.\w+)`/g)].map(([, file]) => file ?? '');
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('docs/ARCHITECTURE.md names code by the end of its path', () => {
  const text = readFileSync(path.join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => `/${file}`);
  const files = ['src', 'test', 'bench'].flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true }).map((file) => `/${room}/${String(file)}`),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((end) => !files.some((file) => file.endsWith(end)))).toEqual([]);
});

test.each(pages)('%s links to headings and pages that are there', (page) => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link ?? '')
    .filter((link) => !link.includes(':'));
  const broken = links.filter((link) => {
    const [file = '', heading] = link.split('#');
    const target = file === '' ? path.join(root, page) : path.resolve(root, path.dirname(page), file);
    if (!existsSync(target)) return true;
    return heading !== undefined && !headingsOf(readFileSync(target, 'utf8')).has(heading);
  });
  expect(broken).toEqual([]);
});

/** As GitHub makes them: lower case, punctuation gone, spaces as hyphens. */
function headingsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
