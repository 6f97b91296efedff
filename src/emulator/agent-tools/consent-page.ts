/** The pages that a person sees while an agent logs in. They work without JavaScript. */
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { Scope } from './scopes.ts';
import { account } from './scopes.ts';

const meanings: Readonly<Record<Scope, string>> = {
  openid: 'know who you are',
  profile: 'see your name',
  email: 'see your e-mail address',
  'mcp:read': 'read projects, models, routers, tasks and the credit balance',
  'mcp:write': 'create, change and delete routers',
};

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export interface Asked {
  readonly client: string;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
}

/** A form whose buttons send `decision`: `allow` or `deny`. */
export function consentPage({ client, redirectUri, scopes }: Asked): Html {
  return page(
    'Allow access?',
    html`<p><strong>${client}</strong> asks to use this emulator as ${account.name}. It would be able to</p>
      <ul>
        ${scopes.map((scope) => html`<li>${meanings[scope]} <code>${scope}</code></li>`)}
      </ul>
      <p>The answer goes to <code>${redirectUri}</code>.</p>
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
        <title>${title}</title>
        <link rel="stylesheet" href="/console/assets/console.css" />
      </head>
      <body>
        <main class="narrow">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}
