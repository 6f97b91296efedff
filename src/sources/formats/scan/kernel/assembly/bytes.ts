/** Bytes in the kernel's memory, 16 at a time. Whatever is read so may be read up to 16 bytes behind its end. */

export const lineFeed: u32 = 0x0a;
export const carriageReturn: u32 = 0x0d;
export const quoteMark: u32 = 0x22;

// @ts-ignore: decorator
@inline
export function setBits(from: v128, byte: u32): u32 {
  return i8x16.bitmask(i8x16.eq(from, i8x16.splat(<i8>byte)));
}

/** Of 16 bytes, those that come before the `count`th, as bits. */
// @ts-ignore: decorator
@inline
export function bitsBefore(count: u32): u32 {
  return (1 << count) - 1;
}

// @ts-ignore: decorator
@inline
export function areEqual(a: usize, b: usize, length: u32): bool {
  let left = length;
  while (left >= 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) != 0xffff) return false;
    a += 16;
    b += 16;
    left -= 16;
  }
  return (~i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) & bitsBefore(left)) == 0;
}

export function hashOf(from: usize, length: u32): u32 {
  let hash: u64 = length;
  let at = from;
  let left = length;
  for (; left >= 8; left -= 8, at += 8) hash = mixed(hash ^ load<u64>(at));
  if (left > 0) hash = mixed(hash ^ (load<u64>(at) & ((1 << ((<u64>left) << 3)) - 1)));
  return <u32>(hash ^ (hash >> 29));
}

// @ts-ignore: decorator
@inline
function mixed(hash: u64): u64 {
  const product = hash * 0x9e3779b97f4a7c15;
  return product ^ (product >> 32);
}
