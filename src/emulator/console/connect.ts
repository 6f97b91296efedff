/** How programs reach the emulator: texts to copy. */
import { html } from 'hono/html';
import { updatePath } from '../../contract/update-path.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import type { Routing } from '../routing/routing.ts';
import { showCode } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

export interface Reach {
  /** Where the emulator is found. */
  readonly origin: string;
  /** What requests to the service's paths need. */
  readonly key: 'none' | 'any' | 'token';
}

/** What pages of model routing show. */
export interface RoutingShown {
  readonly routing: Routing;
  readonly key: Reach['key'];
}

const keys = {
  none: { header: '', apiKey: 'anything', hint: 'No key is needed.' },
  any: { header: " -H 'authorization: Bearer anything'", apiKey: 'anything', hint: 'Any key will do.' },
  token: {
    header: ' -H "authorization: Bearer $TOKEN"',
    apiKey: 'TOKEN',
    hint: 'It wants the token that it was started with.',
  },
} as const;

/** A push of one driver. */
export function pushCommand({ origin, key }: Reach): string {
  return `curl ${origin}${updatePath}${keys[key].header} -H 'content-type: application/json' \\
  -d '{"extDrivers":[{"id":"sales","path":["Sales"],"timeSeries":[{"time":"1772323200","value":"1250.50"}]}]}'`;
}

/** A request to generate. */
export function generateCommand(reach: Reach, modality: Modality, body: object): string {
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `${getCommand(reach, `/v1/generate/${modality}`)} -H 'content-type: application/json' \\
  -d '${json}'`;
}

/** A request that makes a router. */
export function routerCommand(reach: Reach): string {
  return `${getCommand(reach, '/v1/routers')} -H 'content-type: application/json' \\
  -d '{"slug":"my-router","name":"My router"}'`;
}

/** A request to a path of model routing. */
export function getCommand({ origin, key }: Reach, path: string): string {
  const version = key === 'none' ? '' : " -H 'x-runway-version: 2024-11-06'";
  return `curl ${origin}${path}${keys[key].header}${version}`;
}

/** @param slug a router to try; undefined where there is none */
export function showConnect(reach: Reach, slug: string | undefined): Html {
  const { origin, key } = reach;
  const { apiKey, hint } = keys[key];
  const input = { promptText: 'a lighthouse at dusk' };
  const [step, command] =
    slug === undefined
      ? ['Make a router:', routerCommand(reach)]
      : [
          'Ask a router which model it would take:',
          generateCommand(reach, 'image', { configId: slug, input, dryRun: true }),
        ];
  const client = `import RunwayML from '@runwayml/sdk';
const client = new RunwayML({ baseURL: '${origin}', apiKey: '${apiKey}' });`;
  const agent = JSON.stringify({ mcpServers: { emulator: { type: 'http', url: `${origin}/mcp` } } }, undefined, 2);
  return html`<section aria-labelledby="connect">
    <h2 id="connect">Connect</h2>
    <p class="quiet">
      The service is emulated at <code>${origin}</code>. ${hint} See its <a href="/_emulator/openapi">interface</a> and
      <a href="/_emulator/evidence">the evidence for it</a>.
    </p>
    <div class="ways">
      ${showWay(
        'curl',
        'open',
        html`<p class="hint">Push a driver:</p>
          ${showCode(pushCommand(reach))}
          <p class="hint">${step}</p>
          ${showCode(command)}`,
      )}
      ${showWay('The official client', '', showCode(client))}
      ${showWay(
        'An agent',
        '',
        html`<p class="hint">Agent tools speak MCP. The agent is sent to a page that asks you whether it may.</p>
          ${showCode(agent)}`,
      )}
      ${showWay(
        'driver-sync',
        '',
        html`<p class="hint">In its config:</p>
          ${showCode(`destination:\n  url: ${origin}`)}`,
      )}
    </div>
  </section>`;
}

function showWay(name: string, open: 'open' | '', content: Html): Html {
  return html`<details name="way" ${open}>
    <summary>${name}</summary>
    ${content}
  </details>`;
}
