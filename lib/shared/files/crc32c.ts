const CASTAGNOLI_REFLECTED = 0x82f63b78;
const BYTES_AT_ONCE = 8;

/** TABLES[k * 256 + b]: the remainder of byte b followed by k zero bytes. */
const TABLES = tables();

function tables(): Uint32Array {
  const all = new Uint32Array(256 * BYTES_AT_ONCE);
  for (let byte = 0; byte < 256; ++byte) {
    let crc = byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI_REFLECTED : crc >>> 1;
    all[byte] = crc;
  }
  for (let at = 256; at < all.length; ++at) {
    const before = all[at - 256]!;
    all[at] = all[before & 0xff]! ^ (before >>> 8);
  }
  return all;
}

/**
 * CRC-32C of the bytes, eight at a time.
 * Source: RFC 3720, appendix B.4 (test vectors); Kounavis and Berry 2005, "A systematic approach to building high
 * performance, software-based, CRC generators" (slicing by 8).
 */
export function crc32c(bytes: Uint8Array): number {
  const t = TABLES;
  const whole = bytes.length - (bytes.length % BYTES_AT_ONCE);
  let crc = 0xffffffff;
  let i = 0;
  for (; i < whole; i += BYTES_AT_ONCE) {
    const low = crc ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    crc =
      t[1792 + (low & 0xff)]! ^
      t[1536 + ((low >>> 8) & 0xff)]! ^
      t[1280 + ((low >>> 16) & 0xff)]! ^
      t[1024 + (low >>> 24)]! ^
      t[768 + bytes[i + 4]!]! ^
      t[512 + bytes[i + 5]!]! ^
      t[256 + bytes[i + 6]!]! ^
      t[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; ++i) crc = t[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
