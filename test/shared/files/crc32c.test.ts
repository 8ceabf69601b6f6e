import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc32c } from "../../../lib/shared/files/crc32c.ts";

/** CRC-32C bit by bit, without a table. */
function bitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

describe("CRC-32C", () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);
  test.each([
    ["32 zeros", new Uint8Array(32), 0x8a9136aa],
    ["32 times 0xff", new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ["0x00 to 0x1f", ascending, 0x46dd794e],
    ["0x1f to 0x00", ascending.toReversed(), 0x113fdb5c],
    ["digits", Buffer.from("123456789"), 0xe3069283],
    ["nothing", new Uint8Array(0), 0],
  ])("of %s is that of RFC 3720", (_, bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
  });

  test("of any bytes, at any place of a buffer, is the one taken a bit at a time", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(8), (bytes, from) => {
        expect(crc32c(bytes.subarray(from))).toBe(bitwise(bytes.subarray(from)));
      }),
    );
  });
});
