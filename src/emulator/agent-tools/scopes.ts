/** What an agent may ask for, and in whose name it acts. */

/** `mcp:read` and `mcp:write` are for the tools, and neither includes the other. */
export const toolScopes = ['mcp:read', 'mcp:write'] as const;
export type ToolScope = (typeof toolScopes)[number];

export const scopes = ['openid', 'profile', 'email', ...toolScopes] as const;
export type Scope = (typeof scopes)[number];

/** Those that there are of a scope as OAuth writes it: names with spaces between. */
export function knownScopes(text: string): Scope[] {
  const asked = text.split(' ');
  return scopes.filter((scope) => asked.includes(scope));
}

/** Everybody at the emulator is the same person. */
export const account = {
  id: '6f2b1c3a-0d4e-4b7a-9c58-2e1f3a4b5c6d',
  name: 'Emulator User',
  email: 'user@emulator.invalid',
} as const;

/** There is one project, and everything is in it. */
export const project = { id: 'a3d0c8f4-5b16-4e2d-8f97-1c0b2d3e4f50', name: 'Emulator' } as const;
