// Deliberate faults (mutants) that these tests detect: a range of marks is left out; other white space is trimmed;
// the first UTF-16 unit is taken.
import { expect, test } from "vitest";
import {
  firstChar,
  trimPunctuation,
  trimPunctuationEnd,
  trimPunctuationStart,
  withoutPunctuation,
} from "../../../../lib/domains/instruction-following/ifbench/punctuation.ts";
import { PUNCTUATION } from "../../../../lib/python/text.ts";

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");

test("the marks are the ASCII characters that are seen and are neither letter nor digit", () => {
  expect([...PUNCTUATION].sort().join("")).toBe(ASCII.replace(/[\0-\x20a-zA-Z0-9\x7f]/g, ""));
  expect(withoutPunctuation(ASCII)).toBe([...ASCII].filter((char) => !PUNCTUATION.includes(char)).join(""));
  expect(withoutPunctuation("don’t — 1,000.5 “é”")).toBe("don’t — 10005 “é”");
});

test("marks and spaces go at the ends, tabs and line ends stay", () => {
  const text = ' "(a b.)\n*! ';
  expect([trimPunctuation(text), trimPunctuationStart(text), trimPunctuationEnd(text)]).toEqual([
    "a b.)\n",
    "a b.)\n*! ",
    ' "(a b.)\n',
  ]);
  expect([trimPunctuation("..."), trimPunctuationStart("..."), trimPunctuationEnd("...")]).toEqual([
    "",
    "",
    "",
  ]);
});

test("a first character may take two UTF-16 units", () => {
  expect([firstChar("😀a"), firstChar("ab"), firstChar("")]).toEqual(["😀", "a", undefined]);
});
