/** A larger typed array with what the smaller one held. */
export function enlarged<T extends Int8Array | Uint8Array | Int32Array | Uint32Array | Float64Array>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
