/** Storage that the older official client asks its host program for. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';

export type OlderKeeper = OAuthClientProvider & { authorizationUrl: string };

/** Keeps everything in memory. The browser is sent back to `redirectUri`. */
export function olderKeeper(redirectUri: string): OlderKeeper {
  let client: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  let verifier = '';
  return {
    authorizationUrl: '',
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'An older agent', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
    clientInformation: () => client,
    saveClientInformation: (saved) => void (client = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    codeVerifier: () => verifier,
    saveCodeVerifier: (saved) => void (verifier = saved),
    redirectToAuthorization(url) {
      this.authorizationUrl = url.href;
    },
  };
}
