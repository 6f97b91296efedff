/** Masks what may be a secret in headers, addresses and bodies, wherever the emulator writes something down. */

/** A header, parameter or member of JSON whose name matches holds a secret. */
export const secretName = /auth|cookie|token|secret|key|pass|session|credential|signature|assertion|verifier|jwt/i;

/** Parameters of OAuth and of signed links that hold a secret, by their whole name. */
const secretParameters = new Set(['code', 'state', 'sig', 'pwd']);

export function maskedHeaders(headers: Headers): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const [name, value] of headers) masked[name] = maskSecret(name, value);
  return masked;
}

function maskSecret(name: string, value: string): string {
  // Some headers hold an address with a query, such as `referer`.
  if (!secretName.test(name)) return maskParameters(value);
  const scheme = name.endsWith('authorization') ? /^\w+ (?=.)/.exec(value)?.[0] : undefined;
  return `${scheme ?? ''}***`;
}

export function maskParameters(text: string): string {
  if (!text.includes('=')) return text;
  return text.replaceAll(/([?&;]\s*)([^=?&;#\s]+)=([^&;#\s"]*)/g, (all, separator: string, name: string) =>
    isSecretParameter(name) ? `${separator}${name}=***` : all,
  );
}

function isSecretParameter(encodedName: string): boolean {
  // URLSearchParams decodes the name, and leaves it as it is where it cannot be decoded.
  const [name = ''] = new URLSearchParams(`${encodedName}=`).keys();
  return secretName.test(name) || secretParameters.has(name.toLowerCase());
}
