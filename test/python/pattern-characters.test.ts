import { expect, test } from "vitest";
import { escapedChar, foldCase, readClass } from "../../lib/python/pattern-characters.ts";
import { PatternCursor, PatternError } from "../../lib/python/pattern-cursor.ts";

/** The characters of `word` that the class contains. */
const among = (inside: string, word: string, ignoreCase = false) =>
  [...word].filter(readClass(new PatternCursor(inside), ignoreCase)).join("");

test.each([
  ["a-c]", "abcd-", "abc"],
  ["^a-c]", "abcd-", "d-"],
  ["]x]", "]x[", "]x"],
  ["a-]", "ab-", "a-"],
  ["\\d\\x41]", "1A٣a", "1A٣"],
  ["\\W]", "a_ -é", " -"],
])("the class [%s of %j has %j", (inside, word, expected) => expect(among(inside, word)).toBe(expected));

test("a class of capitals has folded letters in it", () => {
  expect([among("A-C]", "abcd"), among("A-C]", "abcd", true)]).toEqual(["", "abc"]);
});

test("escapes stand for a character, or are refused as Python refuses them", () => {
  expect(escapedChar(new PatternCursor("0041z"), "u")).toBe("A");
  expect(escapedChar(new PatternCursor(""), "n")).toBe("\n");
  expect(() => escapedChar(new PatternCursor("4"), "x")).toThrow(PatternError);
  expect(() => escapedChar(new PatternCursor(""), "q")).toThrow(PatternError);
});

test("folding makes one character of a letter's cases and look-alikes", () => {
  expect(foldCase("ÀİıIſSΣσςµKẞ")).toBe("àiiissσσσμkß");
  for (const text of ["İstanbul", "ΟΔΟΣ", "Straße", "ﬁ"]) expect(foldCase(text)).toHaveLength(text.length);
});
