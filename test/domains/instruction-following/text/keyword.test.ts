import { describe, expect, test } from "vitest";
import {
  expression,
  type KeywordReader,
  literal,
  wholeExpression,
  wholeWord,
} from "../../../../lib/domains/instruction-following/text/keyword.ts";
import { ResponseText } from "../../../../lib/domains/instruction-following/text/response-text.ts";
import { PatternError } from "../../../../lib/python/pattern-cursor.ts";

const count = (word: string, text: string, read: KeywordReader) => read(word)?.count(new ResponseText(text));

describe("a keyword counts", () => {
  test.each([
    ["in any case, inside words too", "cat", "Cat concatCAT", 3, 3],
    ["without overlaps", "aa", "aaaaa", 2, 2],
    ["as an expression in reference mode only", "a.b", "a.b axb", 2, 1],
    ["by alternatives in reference mode only", "cat|dog", "cat dog cat|dog", 4, 1],
    ["never in reference mode if Python refuses it", "C++", "c++ C++", undefined, 2],
    ["with look-alikes of its letters", "ski", "ſKİ", 1, 1],
    ["as a phrase", "to be", "To be or not to  be", 1, 1],
  ] as const)("%s", (_, word, text, reference, strict) => {
    expect([count(word, text, expression), count(word, text, literal)]).toEqual([reference, strict]);
  });

  test.each([
    ["as a whole word", "cat", "cat, concat; CAT! cats _cat", 2, 2],
    ["with a mark at its end, which reference wants a word character after", "hi!", "hi! hi!x", 1, 2],
    ["with a mark at its end that Python refuses", "c++", "c++ c+++ xc++", undefined, 2],
    ["with an accent before it", "e", "é e\u0301 e", 2, 2],
  ] as const)("%s, if whole", (_, word, text, reference, strict) => {
    expect([count(word, text, wholeExpression), count(word, text, wholeWord)]).toEqual([reference, strict]);
  });
});

test("found and counted agree", () => {
  for (const read of [expression, literal])
    for (const word of ["a", "a.", "(a|b)+", "x"])
      for (const text of ["", "a", "bab", "A b"]) {
        const response = new ResponseText(text);
        const found = read(word)!;
        expect([word, text, found.found(response)]).toEqual([word, text, found.count(response) > 0]);
      }
});

test("an expression beyond linear matching is refused in reference mode", () => {
  expect(() => expression("(a)\\1")).toThrow(PatternError);
  expect(literal("(a)\\1").found(new ResponseText("x(A)\\1"))).toBe(true);
});
