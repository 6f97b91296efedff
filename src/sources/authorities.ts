/** Authorities that a source trusts beside those that Node trusts by default, so that public servers stay reachable. */

/** All of them as PEM texts, with that of a file; `undefined` where its text holds no certificate. */
export async function trustedWith(pem: string): Promise<string[] | undefined> {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), pem];
}
