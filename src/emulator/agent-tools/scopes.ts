/** Scopes of the agent tools, and the account and project that they act for. */

/** Scopes of the tools. Neither includes the other. */
export const toolScopes = ['mcp:read', 'mcp:write'] as const;
export type ToolScope = (typeof toolScopes)[number];

export const scopes = ['openid', 'profile', 'email', ...toolScopes] as const;
export type Scope = (typeof scopes)[number];

/** The known scopes in an OAuth scope, a text of names with spaces between them. */
export function knownScopes(text: string): Scope[] {
  const asked = text.split(' ');
  return scopes.filter((scope) => asked.includes(scope));
}

/** The only account. */
export const account = {
  id: '6f2b1c3a-0d4e-4b7a-9c58-2e1f3a4b5c6d',
  name: 'Emulator User',
  email: 'user@emulator.invalid',
} as const;

/** The only project. */
export const project = { id: 'a3d0c8f4-5b16-4e2d-8f97-1c0b2d3e4f50', name: 'Emulator' } as const;
