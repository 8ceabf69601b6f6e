// Deliberate faults (mutants) that these tests detect: negative sizes are accepted, depth is unbounded, bytes after
// the value are ignored.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bool, dict, float, int, list, NONE, type PythonValue, set, str } from "../../lib/python/value.ts";
import { dumps, loads } from "../../lib/sandbox/marshal.ts";

const PYTHON = "/usr/bin/python3";
const hex = (bytes: Buffer) => bytes.toString("hex");

/** Values with their bytes, as `marshal.dumps(value, 2).hex()` prints them in CPython 3.11. */
const KNOWN: readonly [string, PythonValue, string][] = [
  ["None", NONE, "4e"],
  ["True", bool(true), "54"],
  ["5", int(5), "6905000000"],
  ["-1", int(-1), "69ffffffff"],
  ["2**31 - 1", int(2 ** 31 - 1), "69ffffff7f"],
  ["2**31", int(2 ** 31), "6c03000000000000000200"],
  ["-(2**40 + 7)", int(-(2n ** 40n) - 7n), "6cfdffffff070000000004"],
  ["1.5", float(1.5), "67000000000000f83f"],
  ["'é😀'", str("é😀"), "7506000000c3a9f09f9880"],
  ["'\\ud800x'", str("\ud800x"), "7504000000eda08078"],
  [
    "[1, (2,)]",
    list([int(1), { type: "tuple", items: [int(2)] }]),
    "5b02000000690100000028010000006902000000",
  ],
  ["{'a': 1}", dict([[str("a"), int(1)]])!, "7b750100000061690100000030"],
];

test.each(KNOWN)("%s is written and read as CPython does", (_, value, bytes) => {
  expect(hex(dumps(value))).toBe(bytes);
  expect(loads(Buffer.from(bytes, "hex"))).toEqual(value);
});

test.skipIf(!existsSync(PYTHON))("the table is what Python here says", () => {
  const script = `import marshal\nfor v in [${KNOWN.map(([text]) => text).join(", ")}]: print(marshal.dumps(v, 2).hex())`;
  const printed = execFileSync(PYTHON, ["-c", script], { encoding: "utf8" });
  expect(printed.trim().split("\n")).toEqual(KNOWN.map(([, , bytes]) => bytes));
});

const plain = fc.letrec<{ value: PythonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(NONE),
    fc.boolean().map(bool),
    fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map(int),
    fc.double({ noNaN: true }).map(float),
    fc.string({ unit: "binary" }).map(str),
    fc.array(tie("value"), { maxLength: 4 }).map(list),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => ({ type: "tuple" as const, items })),
    fc.array(fc.bigInt().map(int), { maxLength: 4 }).map((items) => set(items)!),
    fc.array(fc.tuple(fc.string().map(str), tie("value")), { maxLength: 3 }).map((entries) => dict(entries)!),
  ),
})).value;

test("what is written is read back", () => {
  fc.assert(
    fc.property(plain, (value) => {
      expect(loads(dumps(value))).toEqual(value);
    }),
  );
});

describe("hostile bytes", () => {
  test("never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void loads(Buffer.from(bytes))),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(plain, fc.nat(), fc.nat(255), (value, at, byte) => {
        const bytes = dumps(value);
        bytes[at % bytes.length] = byte;
        void loads(bytes);
      }),
    );
  });

  test.each([
    ["nothing", ""],
    ["a list cut off", "5b02000000690100000069"],
    ["a list of two billion", "5bffffff7f"],
    ["a list of minus one", "5bffffffff"],
    ["a text of minus one", "75ffffffff"],
    ["something after the value", "4e4e"],
    ["an end of dict alone", "30"],
    ["a dict without end", "7b4e4e"],
    ["code", "63000000000000000000000000"],
    ["a reference", "7200000000"],
    ["ellipsis", "2e"],
    ["a complex number", "79000000000000f03f000000000000f03f"],
    ["lists 700 deep", `${"5b01000000".repeat(700)}4e`],
    ["lists 100,000 deep", "5b01000000".repeat(100_000)],
  ])("%s stands for nothing", (_, bytes) => {
    expect(loads(Buffer.from(bytes, "hex"))).toBeUndefined();
  });

  test("an int of 900,000 bits is read at once, one of over a million never", () => {
    const started = performance.now();
    const digits = (count: number) =>
      Buffer.concat([
        Buffer.from("6c", "hex"),
        Buffer.from(Int32Array.of(count).buffer),
        Buffer.alloc(2 * count, 1),
      ]);
    const value = loads(digits(60_000));
    expect(value?.type === "int" && value.value.toString(2).length).toBe(15 * 60_000 - 6);
    expect(loads(digits(70_000))).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

test("values that marshal has no plain code for are refused, and so is great depth", () => {
  expect(() => dumps({ type: "complex", real: 1, imaginary: 1 })).toThrow(RangeError);
  let deep: PythonValue = NONE;
  for (let k = 0; k < 700; k++) deep = list([deep]);
  expect(() => dumps(deep)).toThrow(RangeError);
});
