/** What is known of each operation, as JSON and as a page. */
import { expect, test } from 'vitest';
import { operations } from '../../src/emulator/routing/operations.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

const points = ['path', 'request', 'answer', 'effect', 'refusal'];
const marks = ['documented', 'typed', 'observed', 'verified', 'guessed'];

test('every operation says how sure each of its points is, and names what it guesses', async () => {
  const emulator = await emulatorWorld();
  const evidence = (await (await emulator.fetch('/_emulator/evidence')).json()) as {
    marks: object;
    points: object;
    operations: Record<string, { points: Record<string, string[]>; guesses: string[] }>;
  };
  expect(Object.keys(evidence.points)).toEqual(points);
  expect(Object.keys(evidence.marks)).toEqual(marks);
  expect(Object.keys(evidence.operations)).toEqual([...Object.keys(operations), 'pushDrivers', 'agentTools']);
  for (const [name, operation] of Object.entries(evidence.operations)) {
    expect(Object.keys(operation.points).toSorted(), name).toEqual(points.toSorted());
    const given = Object.values(operation.points).flat();
    expect(marks, name).toEqual(expect.arrayContaining(given));
    expect(Object.values(operation.points), name).not.toContainEqual([]);
    expect(operation.guesses.length > 0 || !given.includes('guessed'), name).toBe(true);
  }
});

test('a browser gets it as a page that needs no script and loads nothing from elsewhere', async () => {
  const emulator = await emulatorWorld();
  const page = await emulator.fetch('/_emulator/evidence', { headers: { accept: 'text/html,*/*' } });
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await page.text();
  for (const { path } of Object.values(operations)) expect(text).toContain(path);
  expect(text).not.toMatch(/(?:src|href)="https?:/);
});
