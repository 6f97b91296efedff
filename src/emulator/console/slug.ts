/** The Config ID that a name suggests. Browsers run this function, so it refers to nothing outside of itself. */

/** `cafe-2026` from "Café 2026". Empty if no character of the name can be in a slug. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const dashed = plain.replaceAll(/[^a-z0-9_]+/g, '-').replace(/^[^a-z]+/, '');
  return dashed.slice(0, 64).replace(/-+$/, '');
}
