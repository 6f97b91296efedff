/** The description of the interface holds for what the emulator does. */
import { expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { worldOf } from '../support/routing-world.ts';
import { explore } from '../support/openapi-explorer.ts';

interface Described {
  readonly operationId: string;
  readonly security?: object[];
  readonly requestBody?: { readonly required?: boolean };
  readonly responses: Record<string, { links?: Record<string, { operationId: string }> }>;
}

interface DescribedUri {
  readonly pattern: string;
  readonly minLength: number;
  readonly maxLength: number;
}

/** The schemas of every `uri`, wherever it stands. */
function describedUris(within: unknown): DescribedUri[] {
  if (typeof within !== 'object' || within === null) return [];
  return Object.entries(within).flatMap(([key, value]: [string, unknown]) =>
    key === 'uri' ? [value as DescribedUri] : describedUris(value),
  );
}

const byText = (first = '', second = '') => first.localeCompare(second);

async function describedBy(options = {}) {
  const emulator = await emulatorWorld(options);
  const document = (await (await emulator.fetch('/_emulator/openapi.json')).json()) as {
    paths: Record<string, Record<string, Described>>;
    security: object[];
  };
  return { emulator, document, all: Object.values(document.paths).flatMap((methods) => Object.values(methods)) };
}

test('requests made of it get answers that it describes, whatever came before them', { timeout: 120_000 }, async () => {
  const { requests, answers } = await explore(1, (sessions) => sessions === 8);
  expect(requests).toBe(1_200);
  // They get somewhere: every operation succeeds at times.
  const succeeded = new Set(
    Object.keys(answers)
      .filter((answer) => / 20\d$/.test(answer))
      .map((answer) => answer.split(' ')[0]),
  );
  const { all } = await describedBy();
  expect([...succeeded].toSorted(byText)).toEqual(all.map(({ operationId }) => operationId).toSorted(byText));
});

test.for([false, true])('a body is required where an empty one is refused, strict: %s', async (strict) => {
  const { emulator, document } = await describedBy({ strict });
  const headers = { authorization: 'Bearer key', 'x-runway-version': '2024-11-06' };
  const { id } = (await (
    await emulator.fetch('/v1/routers', { method: 'POST', headers, body: '{"slug":"a","name":"A"}' })
  ).json()) as { id: string };
  const optional: string[] = [];
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
      if (requestBody === undefined) continue;
      const url = path.replace('{id}', id);
      const answer = await emulator.fetch(url, { method: method.toUpperCase(), headers });
      expect([operationId, requestBody.required]).toEqual([operationId, !answer.ok]);
      if (answer.ok) optional.push(operationId);
    }
  expect(optional).toEqual(['updateRouter', 'queryUsage']);
});

test('links lead to operations that it describes', async () => {
  const { all } = await describedBy();
  const ids = all.map(({ operationId }) => operationId);
  const linked = all.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ links }) => Object.values(links ?? {})),
  );
  expect(linked.length).toBeGreaterThan(20);
  for (const { operationId } of linked) expect(ids).toContain(operationId);
});

test('the driver push needs a key where a token was set, and none for being strict', async () => {
  const securityOf = async (options: object) => {
    const { document } = await describedBy(options);
    return [document.security, document.paths[updatePath]?.['post']?.security];
  };
  const [required, optional] = [[{ ApiKeyAuth: [] }], [{}, { ApiKeyAuth: [] }]];
  expect(await securityOf({})).toEqual([optional, optional]);
  expect(await securityOf({ strict: true })).toEqual([required, optional]);
  expect(await securityOf({ token: 'key' })).toEqual([required, required]);
});

test.for([
  ['image', 'http://example.com/a.png'],
  ['image', 'data:video/mp4;base64,AAAA'],
  ['image', 'https://a.b'],
  ['image', `data:image/png;base64,${'A'.repeat(5 * 1024 ** 2)}`],
  ['audio', ''],
  ['audio', 'runway://'],
  ['audio', 'https://example.com/a.mp3'],
])('media that it has no place for are refused, and others are not: %s', async ([kind = '', uri = '']) => {
  const { emulator, document } = await describedBy();
  await worldOf(emulator).createRouter('draft');
  const path = `/v1/generate/${kind}`;
  const sent = kind === 'image' ? { referenceImages: [{ uri }] } : { type: 'audio', referenceAudios: [{ uri }] };
  const body = JSON.stringify({ configId: 'draft', dryRun: true, input: { promptText: 'waves', ...sent } });
  const answer = await emulator.fetch(path, { method: 'POST', body });
  const fits = describedUris(document.paths[path]).map(
    ({ pattern, minLength, maxLength }) =>
      new RegExp(pattern).test(uri) && uri.length >= minLength && uri.length <= maxLength,
  );
  expect(fits.length).toBeGreaterThan(0);
  expect(fits).toEqual(fits.map(() => answer.ok));
});

test('a page shows it with fields, limits, answers and what can follow', async () => {
  const { emulator, all } = await describedBy();
  const page = await emulator.fetch('/_emulator/openapi');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await page.text();
  for (const { operationId } of all) expect(text).toContain(`id="${operationId}"`);
  expect(text).toContain('input.referenceImages[].uri');
  expect(text).toContain('extDrivers[].timeSeries[].value');
  expect(text).toContain('minimum 2, maximum 30');
  expect(text).toContain('<a href="#retrieveTask">');
});
