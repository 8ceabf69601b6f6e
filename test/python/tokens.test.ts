// Facts checked one by one in Python 3.11. Deliberate faults (mutants) that these tests detect: leading zeros are
// accepted; Number() parses ints; \x accepts one digit; unknown escapes are dropped; octal in bytes is not cut to a
// byte; the limit of 4,300 digits applies to hexadecimal.
import { describe, expect, test } from "vitest";
import { readNumber, readString } from "../../lib/python/tokens.ts";
import { float, int, type PythonValue, str } from "../../lib/python/value.ts";

const imaginary = (size: number): PythonValue => ({ type: "complex", real: 0, imaginary: size });
const bytes = (value: string): PythonValue => ({ type: "bytes", value });

describe("numbers", () => {
  test.each<[string, PythonValue]>([
    ["0", int(0)],
    ["000", int(0)],
    ["0_0", int(0)],
    ["42", int(42)],
    ["1_000", int(1000)],
    ["0xFf", int(255)],
    ["0X_f", int(15)],
    ["0o17", int(15)],
    ["0b101", int(5)],
    ["9007199254740993", int(9007199254740993n)],
    [`1${"0".repeat(100)}`, int(10n ** 100n)],
    [`0x${"f".repeat(5000)}`, int(16n ** 5000n - 1n)],
    ["1.5", float(1.5)],
    ["1.", float(1)],
    [".5", float(0.5)],
    ["007.5", float(7.5)],
    ["1e3", float(1000)],
    ["1.E-2", float(0.01)],
    ["1_0.5_0e1_0", float(10.5e10)],
    ["1e400", float(Number.POSITIVE_INFINITY)],
    ["2j", imaginary(2)],
    ["007j", imaginary(7)],
    ["1.5e1J", imaginary(15)],
  ])("%s", (text, value) => {
    expect(readNumber(text)).toEqual(value);
  });

  test.each([
    "007",
    "1__0",
    "1_",
    "_1",
    "0x",
    "0x_",
    "0b2",
    "0o8",
    "1e",
    "1e_5",
    "1._5",
    ".",
    "",
    "j",
    "1.5.2",
    "9".repeat(4301),
  ])("%s is none", (text) => {
    expect(readNumber(text)).toBeUndefined();
  });
});

describe("strings", () => {
  test.each<[string, PythonValue]>([
    ["''", str("")],
    ["'a\"b'", str('a"b')],
    ['"""a\n"b"""', str('a\n"b')],
    ["'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"'", str("\x07\b\f\n\r\t\v\\'\"")],
    ["'a\\\nb'", str("ab")],
    ["'\\x41\\u00e9\\U0001F600'", str("Aé😀")],
    ["'\\u00e99'", str("é9")],
    ["'\\0\\101\\7778'", str("\0Aǿ8")],
    ["'\\q\\8'", str("\\q\\8")],
    ["r'\\n\\x'", str("\\n\\x")],
    ["U'a'", str("a")],
    ["b'a\\xff\\377\\777'", bytes("a\xff\xff\xff")],
    ["b'\\u0041\\N{X}'", bytes("\\u0041\\N{X}")],
    ["Rb'\\n'", bytes("\\n")],
    ["'é'", str("é")],
  ])("%s", (text, value) => {
    expect(readString(text)).toEqual(value);
  });

  test.each([
    "'\\x4'",
    "'\\u123'",
    "'\\U00110000'",
    "'\\U0001F60'",
    "'\\N{DASH}'",
    "b'\\x4'",
    "b'é'",
    "f'a'",
    "ub'a'",
    "'",
    "'a",
    "a",
    "",
  ])("%s is none", (text) => {
    expect(readString(text)).toBeUndefined();
  });
});
