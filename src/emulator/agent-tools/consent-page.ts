/** The pages that a person sees while an agent logs in. They work without JavaScript, and look like the console. */
import { html } from 'hono/html';
import type { Html } from '../../pages/markup.ts';
import type { Scope } from './scopes.ts';
import { account } from './scopes.ts';

const meanings: Readonly<Record<Scope, string>> = {
  openid: 'know who you are',
  profile: 'see your name',
  email: 'see your e-mail address',
  'mcp:read': 'read projects, models, routers, tasks and the credit balance',
  'mcp:write': 'create, change and delete routers',
};

export interface Asked {
  readonly client: string;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
}

/** A form whose buttons send `decision`: `allow` or `deny`. */
export function consentPage({ client, redirectUri, scopes }: Asked): Html {
  return page(
    'Allow access?',
    html`<p class="lead"><strong>${client}</strong> asks to use this emulator as ${account.name}.</p>
      <h2>It would be able to</h2>
      <ul class="scopes">
        ${scopes.map((scope) => html`<li>${meanings[scope]} <code>${scope}</code></li>`)}
      </ul>
      <p class="hint">
        The answer goes to <code class="breaks">${redirectUri}</code>. Nothing real can be reached: all that it sees is
        made up.
      </p>
      <form method="post">
        <p class="actions">
          <button type="submit" name="decision" value="allow" class="primary">Allow</button>
          <button type="submit" name="decision" value="deny">Deny</button>
        </p>
      </form>`,
  );
}

export function errorPage(error: string): Html {
  return page('This did not work', html`<p>${error}</p>`);
}

function page(title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · driver-sync emulator</title>
        <link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/console/assets/pages.css" />
      </head>
      <body>
        <main class="asking">
          <p class="brand">driver-sync <span>emulator</span></p>
          <div class="card">
            <h1>${title}</h1>
            ${content}
          </div>
        </main>
      </body>
    </html>`;
}
