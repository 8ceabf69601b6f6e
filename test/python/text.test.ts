import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countChar,
  fields,
  isBlank,
  isLower,
  isSpace,
  isUpper,
  isWordChar,
  trim,
  trimChars,
  trimEnd,
  trimStart,
  words,
} from "../../lib/python/text.ts";

// CPython 3.11 and NLTK 3.10 printed the expected values for the same calls.

describe("white space", () => {
  test("is what str.isspace says, not what \\s matches in JavaScript", () => {
    for (const char of "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000")
      expect([char, isSpace(char)]).toEqual([char, true]);
    for (const char of "\ufeff\u200b\u180ea\x1b") expect([char, isSpace(char)]).toEqual([char, false]);
  });

  test.each([
    ["\x1c a\u3000", "a"],
    ["\ufeffa", "\ufeffa"],
    [" a b ", "a b"],
    ["\n", ""],
    ["", ""],
  ])("trim(%j) is %j", (text, expected) => {
    expect(trim(text)).toBe(expected);
  });

  test("one side only", () => {
    expect([trimStart(" a "), trimEnd(" a ")]).toEqual(["a ", " a"]);
  });

  test.each([
    ["", true],
    [" \n\x1f", true],
    [" a", false],
    ["a", false],
    ["\u200b", false],
  ])("isBlank(%j) is %j", (text, expected) => {
    expect(isBlank(text)).toBe(expected);
  });

  test("a million spaces take no longer than a million letters", () => {
    const start = performance.now();
    for (const text of [" ".repeat(1e6), `${" ".repeat(1e6)}x`, `x${" ".repeat(1e6)}x`]) trim(text);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  test("fields are separated by runs of it, and joined back they differ from the text in nothing else", () => {
    expect(fields("\x1ca\u3000 b\ufeff\n")).toEqual(["a", "b\ufeff"]);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const all = fields(text);
        expect(all.every((field) => field !== "" && ![...field].some(isSpace))).toBe(true);
        expect(all.join("")).toBe([...text].filter((c) => !isSpace(c)).join(""));
      }),
    );
  });
});

test("trimChars takes any of the given characters off both ends", () => {
  expect(trimChars('""a"b"', '"')).toBe('a"b');
  expect(trimChars("<<a>>", "<>")).toBe("a");
  expect(trimChars("<<>>", "<>")).toBe("");
});

describe("words", () => {
  test.each([
    ["a-b c_d 3.14", ["a", "b", "c_d", "3", "14"]],
    ["naïve cafe\u0301", ["naïve", "cafe\u0301"]],
    ["बांध था", ["बांध", "था"]],
    ["می‌خواهم", ["می‌خواهم"]],
    ["x² ½", ["x"]],
    ["你好。世界", ["你好", "世界"]],
    ["!?", []],
  ])("of %j are %j", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test("a word character of `re` may be a numeral but no mark", () => {
    expect(["a", "é", "٣", "²", "½", "_", "你", "𝒳"].every(isWordChar)).toBe(true);
    expect(["-", "\u0301", "ा", " ", "", "ab"].some(isWordChar)).toBe(false);
  });
});

test.each([
  ["A1!", true, false],
  ["a1!", false, true],
  ["Aa", false, false],
  ["123", false, false],
  ["", false, false],
  ["ǅ", false, false],
  ["AǅB", false, false],
  ["Ⅳ", true, false],
  ["ªb", false, true],
  ["ÉCOLE", true, false],
])("%j: isUpper %j, isLower %j", (text, upper, lower) => {
  expect([isUpper(text), isLower(text)]).toEqual([upper, lower]);
});

test("countChar counts a character, metacharacters too", () => {
  expect([
    countChar("a.b.c", "."),
    countChar("##", "#"),
    countChar("😀a😀", "😀"),
    countChar("", "a"),
  ]).toEqual([2, 2, 2, 0]);
});
