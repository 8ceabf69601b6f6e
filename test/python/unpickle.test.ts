// Deliberate faults (mutants) that these tests detect: STOP need not be the last byte; a second string is accepted.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unpickleString } from "../../lib/python/unpickle.ts";

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");

/** pickle.dumps("[1, \"é\"]", protocol=N) of CPython 3.11. */
const WRITTEN_BY_CPYTHON: Readonly<Record<number, string>> = {
  2: "8002 5809000000 5b312c2022c3a9225d 71002e",
  3: "8003 5809000000 5b312c2022c3a9225d 71002e",
  4: "8004 950d00000000000000 8c09 5b312c2022c3a9225d 942e",
  5: "8005 950d00000000000000 8c09 5b312c2022c3a9225d 942e",
};

test.each(Object.entries(WRITTEN_BY_CPYTHON))("protocol %s", (_, hex) => {
  expect(unpickleString(bytes(hex))).toBe('[1, "é"]');
});

test("long strings, which CPython writes outside of frames, and 8-byte lengths", () => {
  const text = "0123456789".repeat(20_000);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const long = Buffer.concat([bytes("8004 58"), length, Buffer.from(text), bytes("94 2e")]);
  expect(unpickleString(long)).toBe(text);
  expect(unpickleString(bytes("8004 8d 0200000000000000 6869 2e"))).toBe("hi");
});

describe("is refused", () => {
  test.each([
    ["nothing", "", /no protocol/],
    ["protocol 0", "5661 0a 2e", /no protocol/],
    ["no end", "8004 8c02 6869", /no end at byte 6/],
    ["a length past the end", "8004 8c09 6869 2e", /longer than the pickle/],
    ["a cut length", "8004 58 09", /longer than the pickle/],
    ["a length of 2^63", "8004 8d ffffffffffffff7f 6869 2e", /longer than the pickle/],
    ["more behind the end", "8004 8c02 6869 2e 2e", /opcode 0x2e/],
    ["two strings", "8004 8c0161 8c0162 2e", /opcode 0x8c at byte 5/],
    ["no string", "8004 2e", /opcode 0x2e/],
    ["a memo before a string", "8004 94 8c0161 2e", /opcode 0x94/],
    ["a number", "8004 4b01 2e", /opcode 0x4b/],
    ["a global", "8004 63 6f730a73797374656d0a 8c0161 85 52 2e", /opcode 0x63/],
    ["a call", "8004 8c026f73 8c0673797374656d 93 8c0474727565 85 52 2e", /opcode 0x8c/],
    ["bytes", "8004 4302 6869 2e", /opcode 0x43/],
  ])("%s", (_, hex, message) => {
    expect(() => unpickleString(bytes(hex))).toThrow(
      expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
    );
  });

  test("text that is no UTF-8", () => {
    expect(() => unpickleString(bytes("8004 8c02 ff00 2e"))).toThrow(TypeError);
  });

  test("any other bytes, without reading past them", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (tail) => {
        try {
          expect(typeof unpickleString(Uint8Array.from([0x80, 4, ...tail]))).toBe("string");
        } catch (error) {
          expect(error instanceof TypeError || (error as { code?: string }).code === "HONE_ERR_DATA").toBe(
            true,
          );
        }
      }),
      { numRuns: 1000 },
    );
  });
});
