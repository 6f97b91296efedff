/** What this room uses of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Adapter {
    upsert(id: string, payload: object, expiresInSeconds?: number): Promise<void>;
    find(id: string): Promise<object | undefined>;
    findByUid(uid: string): Promise<object | undefined>;
    findByUserCode(userCode: string): Promise<object | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface AccessToken {
    readonly clientId: string;
    readonly accountId: string;
    /** Separated by spaces. */
    readonly scope: string | undefined;
    /** UNIX seconds. */
    readonly exp: number;
    readonly aud: string | readonly string[] | undefined;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName: string | undefined;
    /** As it registered; separated by spaces. */
    readonly scope?: string;
  }

  export interface Interaction {
    readonly uid: string;
    /** Of the request, which has been checked and given its defaults. */
    readonly params: { readonly client_id: string; readonly redirect_uri: string; readonly scope: string };
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface KoaContext {
    readonly req: IncomingMessage;
    type: string;
    body: unknown;
  }

  export namespace errors {
    class InvalidClientMetadata extends Error {}
    class InvalidScope extends Error {
      constructor(description: string, scope: string);
    }
    class InvalidTarget extends Error {}
    class SessionNotFound extends Error {}
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Client: { find(id: string): Promise<Client | undefined> };
    readonly AccessToken: { find(value: string): Promise<AccessToken | undefined> };
    readonly Grant: new (input: { readonly accountId: string; readonly clientId: string }) => Grant;
    callback(): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
    interactionDetails(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Interaction>;
    interactionFinished(
      incoming: IncomingMessage,
      outgoing: ServerResponse,
      result: object,
      options: { readonly mergeWithLastSubmission: boolean },
    ): Promise<void>;
    on(event: 'server_error', listener: (context: KoaContext, error: Error) => void): this;
  }
}
