/**
 * The login of agents: OAuth 2.0 with authorization code and PKCE, dynamic client registration, and refresh tokens.
 * Each origin that the emulator is reached at is an issuer; all of them share clients, grants and tokens.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { AuthInfo, OAuthTokenVerifier } from '@modelcontextprotocol/server';
import { errors, Provider } from 'oidc-provider';
import type { Client, ClientMetadata, Configuration, InteractionResults, KoaContextWithOIDC } from 'oidc-provider';
import { consentPage, errorPage } from './consent-page.ts';
import type { LoginStore } from './login-store.ts';
import { nodeExchangeOf } from './node-exchange.ts';
import { account, knownScopes, scopes, toolScopes } from './scopes.ts';
import type { Scope } from './scopes.ts';

const hourSeconds = 60 * 60;
const daySeconds = 24 * hourSeconds;

/** The emulator's choice: how long those of the live service last is not known. */
const lifeSeconds = {
  AccessToken: hourSeconds,
  AuthorizationCode: 60,
  Grant: 30 * daySeconds,
  IdToken: hourSeconds,
  Interaction: hourSeconds,
  RefreshToken: 30 * daySeconds,
  Session: daySeconds,
};

export interface AuthorizationOptions {
  /** Such as `http://127.0.0.1:8787`. */
  readonly origin: string;
  /** The resource that tokens are for. */
  readonly resource: URL;
  readonly store: LoginStore;
  /** Whether pages of this origin may use the endpoints. */
  readonly isOriginAllowed: (origin: string) => boolean;
}

export class Authorization implements OAuthTokenVerifier {
  readonly #provider: Provider;
  readonly #resource: URL;
  readonly #callback: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
  readonly #failures = new WeakMap<IncomingMessage, Error>();

  constructor(options: AuthorizationOptions) {
    this.#resource = options.resource;
    this.#provider = new Provider(options.origin, configurationOf(options));
    this.#provider.on('server_error', ({ req }, error) => this.#failures.set(req, error));
    this.#callback = this.#provider.callback();
  }

  /** Answers at every path of the protocol except the consent page. */
  async answer(request: Request, body: Uint8Array<ArrayBuffer>): Promise<Response> {
    const isRegistration = new URL(request.url).pathname === '/register';
    const { incoming, outgoing, response } = nodeExchangeOf(request, isRegistration ? supportedOf(body) : body);
    await this.#callback(incoming, outgoing);
    const failure = this.#failures.get(incoming);
    if (failure !== undefined) throw failure;
    return response();
  }

  /** Shows who asks for what, and takes the decision. */
  async answerConsent(request: Request, body: Uint8Array<ArrayBuffer>): Promise<Response> {
    try {
      if (request.method === 'GET' || request.method === 'HEAD') return await this.#ask(request);
      return await this.#decide(request, body);
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      return pageResponse(errorPage('This login has ended, or was begun in another browser. Begin it again.'), 400);
    }
  }

  /** @throws OAuthError for a token that is unknown, expired or revoked. */
  async verifyAccessToken(token: string): Promise<AuthInfo> {
    const found = await this.#provider.AccessToken.find(token);
    if (found === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'the token is unknown or has expired');
    const { clientId = '', scope, exp, aud } = found;
    const [audience] = [aud ?? []].flat();
    return {
      token,
      clientId,
      scopes: scope?.split(' ') ?? [],
      ...(exp !== undefined && { expiresAt: exp }),
      ...(audience !== undefined && { resource: new URL(audience) }),
    };
  }

  async #ask(request: Request): Promise<Response> {
    const { incoming, outgoing } = nodeExchangeOf(request, noBody);
    const asked = askedIn((await this.#provider.interactionDetails(incoming, outgoing)).params);
    const client = await this.#provider.Client.find(asked.clientId);
    return pageResponse(
      consentPage({
        client: client?.clientName ?? asked.clientId,
        redirectUri: asked.redirectUri,
        scopes: asked.scopes,
      }),
    );
  }

  async #decide(request: Request, body: Uint8Array): Promise<Response> {
    const decision = new URLSearchParams(Buffer.from(body).toString()).get('decision');
    if (decision !== 'allow' && decision !== 'deny')
      return pageResponse(errorPage('The decision must be allow or deny.'), 400);
    const { incoming, outgoing, response } = nodeExchangeOf(request, noBody);
    const { params } = await this.#provider.interactionDetails(incoming, outgoing);
    const result = decision === 'allow' ? await this.#grant(askedIn(params)) : denial;
    await this.#provider.interactionFinished(incoming, outgoing, result, { mergeWithLastSubmission: false });
    return response();
  }

  /** Grants what was asked for, as far as it is known. */
  async #grant({ clientId, scopes: granted }: Asked): Promise<InteractionResults> {
    const grant = new this.#provider.Grant({ accountId: account.id, clientId });
    grant.addOIDCScope(granted.join(' '));
    grant.addResourceScope(this.#resource.href, toolScopes.filter((scope) => granted.includes(scope)).join(' '));
    return { login: { accountId: account.id, remember: false }, consent: { grantId: await grant.save() } };
  }
}

interface Asked {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
}

/** The parameters of an authorization request that the library has checked. */
function askedIn(params: Readonly<Record<string, unknown>>): Asked {
  const { client_id: clientId, redirect_uri: redirectUri, scope } = params;
  return { clientId: String(clientId), redirectUri: String(redirectUri), scopes: knownScopes(String(scope)) };
}

/** The library reads no body of the consent page: the page's form is read here. */
const noBody = new Uint8Array();

const denial = { error: 'access_denied', error_description: 'the user has denied it' };

/** Leaves unknown scopes out of a registration, as RFC 7591 2 allows. The library would refuse the registration. */
function supportedOf(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let metadata: unknown;
  try {
    metadata = JSON.parse(Buffer.from(body).toString());
  } catch {
    // The library refuses it and says why.
    return body;
  }
  if (typeof metadata !== 'object' || metadata === null || !('scope' in metadata)) return body;
  if (typeof metadata.scope !== 'string') return body;
  const scope = knownScopes(metadata.scope).join(' ');
  return new Uint8Array(Buffer.from(JSON.stringify({ ...metadata, scope: scope === '' ? undefined : scope })));
}

/**
 * Sets the scope of a request. Without one it is that of the registration, or else that of the tools (RFC 6749 3.3);
 * unknown ones are left out.
 * @throws InvalidScope where no known one is left: nobody can be asked to allow nothing.
 */
function settleScope({ oidc: { params = {} } }: KoaContextWithOIDC, scope: string | undefined, client: Client): void {
  const asked = scope ?? client.scope ?? toolScopes.join(' ');
  const known = knownScopes(asked).join(' ');
  if (known === '') throw new errors.InvalidScope(`there are only ${scopes.join(', ')}`, asked);
  params['scope'] = known;
}

/**
 * A redirect over http is for programs on the user's own machine (RFC 8252 7.3), which register as `native`; anybody on the
 * way could read the code of others. The library asks that of clients of type `web` only with the implicit flow.
 * @throws InvalidClientMetadata
 */
function checkRedirects(
  _context: unknown,
  _name: string,
  type: unknown,
  { redirect_uris: uris }: ClientMetadata,
): void {
  if (type !== 'web' || !Array.isArray(uris)) return;
  if (uris.some((uri) => URL.parse(String(uri))?.protocol === 'http:')) {
    throw new errors.InvalidClientMetadata(
      'redirect_uris of clients of type web must be https: only clients of type native may register http, for loopback addresses',
    );
  }
}

async function pageResponse(
  page: ReturnType<typeof errorPage>,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return new Response(String(await page), { status, headers: { ...pageHeaders, ...headers } });
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // No page elsewhere may frame this one and have it clicked. No `form-action`: browsers check it against redirects too.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
};

function configurationOf({ resource, store, isOriginAllowed }: AuthorizationOptions): Configuration {
  const { signing, cookies } = store.keys();
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  return {
    adapter: (model: string) => store.adapter(model),
    jwks: { keys: [signing] },
    cookies: { keys: [cookies], long: cookie, short: cookie },
    routes: {
      authorization: '/authorize',
      token: '/token',
      registration: '/register',
      revocation: '/revoke',
      jwks: '/jwks',
    },
    scopes: [...scopes],
    // The library's hook for checking a parameter and giving it a default.
    extraParams: { scope: settleScope },
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    responseTypes: ['code'],
    pkce: { required: () => true },
    ttl: lifeSeconds,
    clientBasedCORS: (_context, origin) => isOriginAllowed(origin),
    // Most agents run on the user's own machine. The library then takes http for loopback redirects only, at any port.
    extraClientMetadata: { properties: ['application_type'], validator: checkRedirects },
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    // With the endpoint for claims switched off, the ID token is the only place for them.
    conformIdTokenClaims: false,
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, name: account.name, email: account.email }),
    }),
    // Every authorization is asked for anew: a session remembers who is logged in, but not what was allowed.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    renderError: async (context, { error, error_description }) => {
      context.type = 'html';
      context.body = String(await errorPage(`${error}: ${error_description ?? 'no more is known'}`));
    },
    features: featuresOf(resource),
  };
}

function featuresOf(resource: URL): NonNullable<Configuration['features']> {
  const off = { enabled: false };
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    registration: { enabled: true, issueRegistrationAccessToken: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_context, client, token) => client.clientId === token.clientId,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource.href,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, indicator) => {
        if (indicator !== resource.href) throw new errors.InvalidTarget(`there is only ${resource.href}`);
        return {
          scope: toolScopes.join(' '),
          audience: resource.href,
          accessTokenFormat: 'opaque',
          accessTokenTTL: lifeSeconds.AccessToken,
        };
      },
    },
  };
}
