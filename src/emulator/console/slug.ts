/** The Config ID that a name suggests. Browsers run this very function, so it refers to nothing around it. */

/** `cafe-2026` from "Café 2026": as near to the name as a slug can be; empty where nothing is left of it. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const dashed = plain.replaceAll(/[^a-z0-9_]+/g, '-').replace(/^[^a-z]+/, '');
  return dashed.slice(0, 64).replace(/-+$/, '');
}
